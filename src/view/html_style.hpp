#pragma once
// How reports look, and the little that they do by themselves. Neither has a character that would
// have to be written out in XML.

#include <string_view>

namespace titer {

inline constexpr std::string_view kReportStyle = R"(
:root{color-scheme:light dark;--ink:#1d2530;--dim:#566272;--rule:#dfe4ea;--card:#f5f7f9;
--sheet:#fff;--accent:#0072b2;--warn:#fff6e5;--warn-rule:#e69f00;--no:#b3261e}
*{box-sizing:border-box}
body{margin:0;background:var(--sheet);color:var(--ink);font:16px/1.55 system-ui,-apple-system,
"Segoe UI",Roboto,Helvetica,Arial,sans-serif;-webkit-text-size-adjust:100%}
main{max-width:1120px;margin:0 auto;padding:2rem 1.25rem 3rem}
h1{font-size:1.75rem;line-height:1.2;letter-spacing:-.015em;font-weight:680;margin:0 0 .75rem;overflow-wrap:anywhere;
text-wrap:balance}
h2,article h3{font-size:1.2rem;line-height:1.3;font-weight:650;margin:2.5rem 0 .25rem}
h3,h4{font-size:1rem;font-weight:650;margin:1.75rem 0 .4rem;overflow-wrap:anywhere}
p{margin:.35rem 0;max-width:80ch}
.kind{color:var(--accent);font-weight:600;font-size:.875rem;margin:0 0 .35rem}
.lead p{margin:.1rem 0;max-width:none;color:var(--dim);font-size:.9375rem}
.lead b{font-weight:600;color:var(--ink)}
.of{color:var(--dim);font-size:.9375rem;margin:0 0 .6rem}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,205px),1fr));gap:.75rem;
margin:1.5rem 0}
.cards div{background:var(--card);border-radius:8px;padding:.7rem .9rem .75rem}
.cards dt{color:var(--dim);font-size:.8125rem;line-height:1.35}
.cards dd{margin:.15rem 0 0;font-size:1.3125rem;line-height:1.25;font-weight:650;
font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.cards .words{font-size:1rem;font-weight:600}
.cards div:has(.words){grid-column:span 2}
.cards small{display:block;font-size:.8125rem;line-height:1.4;font-weight:400;color:var(--dim);
margin-top:.15rem}
.notes{background:var(--warn);border-left:4px solid var(--warn-rule);border-radius:0 8px 8px 0;
padding:.6rem 1rem .7rem;margin:1.25rem 0}
.notes :is(h2,h3){font-size:.9375rem;margin:0}
.notes ul{margin:.2rem 0 0;padding-left:1.1rem;font-size:.9375rem}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));
gap:1.75rem 2rem;margin:1.75rem 0;align-items:start}
figure{margin:0;min-width:0}
figure.large{grid-column:1/-1}
figcaption :is(h2,h3){font-size:1.0625rem;margin:0}
figcaption p{font-size:.875rem;color:var(--dim);margin:.1rem 0 0}
figcaption{margin-bottom:.6rem}
svg{display:block;max-width:100%;height:auto}
svg.plot{width:100%;max-width:600px}
.close{overflow:auto;max-height:85vh;border:1px solid var(--rule);border-radius:8px}
.close svg{margin:0 auto;min-width:720px}
.close.panning{cursor:grabbing;user-select:none}
.tools{display:flex;gap:.4rem;margin:0 0 .5rem}
.tools button{font:inherit;font-size:.875rem;min-width:2.25rem;padding:.15rem .6rem;color:var(--ink);
background:var(--card);border:1px solid var(--rule);border-radius:6px;cursor:pointer}
.wide{overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;font-size:.875rem;line-height:1.4;font-variant-numeric:tabular-nums}
th,td{padding:.28rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule);
font-weight:400}
th:first-child,td:first-child{padding-left:0}
thead th{font-weight:600;color:var(--dim);white-space:nowrap;vertical-align:bottom;
border-bottom-color:var(--dim)}
.n{text-align:right;white-space:nowrap}
.s{white-space:nowrap}
.many{font-size:.8125rem}
.many th,.many td{padding:.25rem .5rem}
td.bar{min-width:160px;width:30%;padding-top:.5rem}
td.bar i{display:block;height:.7rem;background:var(--accent);border-radius:2px}
td.bar i.less{background:#009e73}
.lines{list-style:none;margin:.3rem 0 1rem;padding:0;font-size:.9375rem;max-width:100ch}
.lines li{padding:.25rem 0;border-bottom:1px solid var(--rule);overflow-wrap:anywhere}
.lines b{font-weight:600}
.more{display:block;color:var(--dim);font-size:.8125rem;padding-left:1.25rem}
details{margin:1.5rem 0 0;border-top:1px solid var(--rule);padding-top:.75rem}
summary{font-weight:650;font-size:1.0625rem;cursor:pointer}
details td{overflow-wrap:anywhere;min-width:5rem}
nav ol{list-style:decimal;margin:.5rem 0 0;padding-left:1.75rem}
nav li{padding:.7rem 0;border-bottom:1px solid var(--rule)}
nav li::marker{color:var(--dim);font-weight:600}
nav a{color:inherit;font-weight:650;text-decoration-color:var(--dim);text-underline-offset:.2em}
nav dl{display:flex;flex-wrap:wrap;gap:.35rem 2rem;margin:.3rem 0 0}
nav dt{color:var(--dim);font-size:.8125rem;line-height:1.35}
nav dd{margin:0;font-weight:600;line-height:1.35;font-variant-numeric:tabular-nums;
overflow-wrap:anywhere}
nav small{font-size:.8125rem;font-weight:400;color:var(--dim);margin-left:.4rem}
article{margin-top:4rem;border-top:2px solid var(--ink);padding-top:1.25rem}
article h2{font-size:1.5rem;line-height:1.2;letter-spacing:-.01em;margin:0 0 .5rem}
.kind a{color:inherit}
.title{font-weight:600}
.no{color:var(--no);font-weight:650}
.again{color:var(--dim);font-size:.875rem;margin-top:2rem}
footer{margin-top:2.5rem;border-top:1px solid var(--rule);padding-top:.9rem;color:var(--dim);
font-size:.875rem}
pre{margin:.4rem 0;padding:.6rem .8rem;background:var(--card);color:var(--ink);border-radius:8px;
white-space:pre-wrap;overflow-wrap:anywhere;font:.8125rem/1.5 ui-monospace,"SF Mono",Menlo,Consolas,
"DejaVu Sans Mono",monospace}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
#tip{position:fixed;z-index:2;max-width:min(26rem,90vw);padding:.35rem .6rem;border-radius:6px;
background:var(--ink);color:var(--sheet);font-size:.8125rem;line-height:1.4;pointer-events:none}
#tip:empty{display:none}
@media screen and (prefers-color-scheme:dark){
:root{--ink:#e6eaf0;--dim:#a4afbd;--rule:#2b333f;--card:#1e252f;--sheet:#151a21;--accent:#56b4e9;
--warn:#2d2617;--warn-rule:#e69f00;--no:#ff8a80}
.paper text[fill="#1a202c"],.paper text[fill="#2d3748"],.paper text[fill="#000000"]{fill:#e6eaf0}
.paper text:not([fill]){fill:#e6eaf0}
.paper g text:not([fill]){fill:inherit}
.paper text[fill="#4a5568"]{fill:#a4afbd}
.paper rect[fill="#ffffff"]{fill:#151a21}
.paper circle[fill="#ffffff"]{fill:#151a21}
.paper circle+text[fill="#2d3748"]{fill:#e6eaf0}
.paper circle+text[fill="#1a365d"]{fill:#1a365d}
.paper rect[rx]+text[fill="#1a202c"]{fill:#1a202c}
.paper rect[fill="#eceff3"]{fill:#2b333f}
.paper rect[fill="#f6f7f9"]{fill:#1e252f}
.paper [fill="#edf2f7"]{fill:#1d2732}
.paper [fill="#dbe5f0"]{fill:#25364a}
.paper path[stroke="#e2e8f0"]{stroke:#2b333f}
.paper path[stroke="#1a202c"],.paper path[stroke="#4a5568"],.paper rect[stroke="#4a5568"]{stroke:#a4afbd}
}
@media (max-width:520px){
main{padding:1.25rem 1rem 2rem}
h1{font-size:1.4rem}
.cards{grid-template-columns:repeat(2,1fr);gap:.5rem}
.cards div{padding:.55rem .7rem}
.cards dd{font-size:1.125rem}
}
@media print{
@page{size:A4;margin:14mm}
body{font-size:10pt;line-height:1.4}
main{max-width:none;padding:0}
h1{font-size:17pt}
.cards{grid-template-columns:repeat(4,1fr);gap:2mm;margin:4mm 0}
.cards div{padding:2mm 3mm;border:1px solid #dfe4ea;background:none}
.cards dd{font-size:12pt}
.cards .words{font-size:10pt}
.pictures{grid-template-columns:repeat(2,1fr);gap:5mm}
figure,.cards div,tr,li{break-inside:avoid}
h2,h3,h4,figcaption,thead{break-after:avoid}
.answer{break-before:page}
.answer h2:first-child{margin-top:0}
article{break-before:page;margin:0;border:0;padding:0}
article .answer{break-before:auto}
nav li{padding:.9mm 0;font-size:8.5pt;line-height:1.3}
nav dl{display:block;margin:0}
nav dl div{display:inline;margin-right:4mm}
nav dt,nav dd{display:inline}
nav dt::after{content:": "}
nav dt,nav small{font-size:8pt}
nav h2{margin-top:3mm}
.wide{overflow:visible}
table{font-size:8.5pt}
.many{font-size:6.5pt}
.many th,.many td{padding:.15rem .25rem}
thead th,.s{white-space:normal}
.close{overflow:visible;max-height:none;border:0}
.close svg{width:100%;min-width:0}
.tools,#tip,details:not([open]){display:none}
}
)";

/// Words of marks at the pointer or, by the arrow keys, of a chart in focus; large pictures larger.
inline constexpr std::string_view kReportScript = R"(
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
)";

}  // namespace titer
