(function(){
'use strict';
var page=document,tip=page.createElement('div');
tip.id='tip';
tip.setAttribute('role','status');
page.body.appendChild(tip);
function hide(){
  tip.textContent='';
  page.querySelectorAll('.mark.at').forEach(function(mark){mark.classList.remove('at');});
}
function show(mark){
  hide();
  mark.classList.add('at');
  tip.textContent=mark.dataset.words;
  var at=mark.getBoundingClientRect();
  tip.style.left=Math.max(8,Math.min(at.left+at.width/2-tip.offsetWidth/2,
    page.documentElement.clientWidth-tip.offsetWidth-8))+'px';
  var above=at.top-tip.offsetHeight-8;
  tip.style.top=(above>8?above:at.bottom+8)+'px';
}
page.querySelectorAll('.plot .mark').forEach(function(mark){
  var title=mark.querySelector('title');
  mark.dataset.words=title.textContent;
  title.remove();
});
page.addEventListener('pointerover',function(event){
  var mark=event.target.closest('.plot .mark');
  if(mark){show(mark);}else{hide();}
});
page.querySelectorAll('svg.plot').forEach(function(plot){
  var marks=plot.querySelectorAll('.mark'),at=-1;
  if(marks.length===0){return;}
  plot.setAttribute('tabindex','0');
  plot.addEventListener('keydown',function(event){
    var step={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1}[event.key];
    if(step){
      at=(at+step+marks.length)%marks.length;
      show(marks[at]);
      event.preventDefault();
    }else if(event.key==='Escape'){hide();}
  });
  plot.addEventListener('blur',hide);
});
page.querySelectorAll('.close').forEach(function(frame){
  var picture=frame.querySelector('svg'),size=1,from=null;
  var tools=page.createElement('div');
  tools.className='tools';
  function scale(to){
    var middle=(frame.scrollLeft+frame.clientWidth/2)/frame.scrollWidth;
    size=Math.max(1,Math.min(to,16));
    picture.style.maxWidth='none';
    picture.style.width=size===1?'100%':100*size+'%';
    frame.scrollLeft=middle*frame.scrollWidth-frame.clientWidth/2;
  }
  [['\u2212','smaller',function(){scale(size/1.5);}],['+','larger',function(){scale(size*1.5);}],
   ['fit','as large as the page',function(){scale(1);}]].forEach(function(tool){
    var button=page.createElement('button');
    button.type='button';
    button.textContent=tool[0];
    button.setAttribute('aria-label',tool[1]);
    button.addEventListener('click',tool[2]);
    tools.appendChild(button);
  });
  frame.parentNode.insertBefore(tools,frame);
  frame.addEventListener('keydown',function(event){
    if(event.key==='+'){scale(size*1.5);}else if(event.key==='-'){scale(size/1.5);}
  });
  frame.addEventListener('pointerdown',function(event){
    if(event.pointerType!=='mouse'){return;}
    from=[event.clientX+frame.scrollLeft,event.clientY+frame.scrollTop];
    frame.classList.add('panning');
  });
  page.addEventListener('pointermove',function(event){
    if(from){
      frame.scrollLeft=from[0]-event.clientX;
      frame.scrollTop=from[1]-event.clientY;
    }
  });
  page.addEventListener('pointerup',function(){
    from=null;
    frame.classList.remove('panning');
  });
});
}());
