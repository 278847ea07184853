// Behind the module that Emscripten made: answers one question after the other.
const kSeconds = 60;  // a search that is late answers with what it has found so far
const ready = titerModule();
onmessage = async ({data}) => {
  const module = await ready;
  postMessage({number: data.number,
               answer: module.ccall('titer_answer', 'string', ['string', 'number'], [data.question, kSeconds])});
};
