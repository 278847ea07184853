// Before the page's own script: answers come from the library itself, in workers, so that the page stays alive. A search has one of
// its own, which ends where another search begins.
const titerAddress = URL.createObjectURL(new Blob([titerCode], {type: 'text/javascript'}));
class TiterWorker {
  constructor() {
    this.waiting = new Map();
    this.number = 0;
  }
  start() {
    this.worker = new Worker(titerAddress);
    this.worker.onmessage = ({data}) => {
      this.waiting.get(data.number)(JSON.parse(data.answer));
      this.waiting.delete(data.number);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end('this browser could not answer: ' + (event.message || 'it has no WebAssembly with exceptions'));
    };
  }
  end(why) {
    if (this.worker) {
      this.worker.terminate();
      this.worker = null;
    }
    for (const resolve of this.waiting.values()) {
      resolve({errors: [why]});
    }
    this.waiting.clear();
  }
  ask(request) {
    if (!this.worker) {
      this.start();
    }
    return new Promise((resolve) => {
      this.waiting.set(++this.number, resolve);
      this.worker.postMessage({number: this.number, question: JSON.stringify(request)});
    });
  }
}
const titerSearcher = new TiterWorker();
const titerAnswerer = new TiterWorker();
window.titerAsk = (request) => {
  if (request.question !== 'search') {
    return titerAnswerer.ask(request);
  }
  titerSearcher.end('another search was begun');
  return titerSearcher.ask(request);
};
