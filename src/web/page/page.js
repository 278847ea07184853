(function () {
'use strict';
// The page keeps a scenario as a run's file holds it, shows its parts in fields, and asks for its answer whenever one changes.
// What is asked is answered elsewhere: by titerAsk() where something before this script defines it, else by the server.
const ask = window.titerAsk || async function (request) {
  const reply = await fetch('ask', {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(request)});
  const answer = await reply.json().catch(() => null);
  return answer || {errors: ['The server answered ' + reply.status + ' ' + reply.statusText]};
};
const $ = (id) => document.getElementById(id);
const kPatienceMs = 60;  // after the last change of a field
const kOwn = ' own';     // a model that is no name
const kTraining = ['global_batch', 'sequence', 'precision', 'optimizer'];
const kPlan = ['pipeline', 'virtual_stages', 'tensor', 'sequence_parallel', 'data', 'context', 'expert', 'micro_batch',
  'schedule', 'recompute', 'sharding'];
// How far a slider goes, by powers of two; what is beyond can be typed.
const kMost = {pipeline: 64, virtual_stages: 32, tensor: 64, data: 1024, context: 64, expert: 256, micro_batch: 64,
  global_batch: 16384, sequence: 1048576, nodes: 4096};
const kLabels = {global_batch: 'Batch', sequence: 'Sequence', pipeline: 'Pipeline', tensor: 'Tensor', data: 'Data',
  context: 'Context', expert: 'Expert', nodes: 'Nodes'};
let choices = null;
let scenario = {};
let asked = 0;
let timer = 0;

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties || {});
  made.append(...children);
  return made;
}
const words = (key) => kLabels[key] || (key[0].toUpperCase() + key.slice(1)).replace(/_/g, ' ');
const part = (name) => (scenario[name] !== null && typeof scenario[name] === 'object' ? scenario[name] : {});

// A part's key, taken away where there is nothing to say.
function put(name, key, value) {
  const next = Object.assign({}, part(name));
  if (value === undefined || value === '' || Number.isNaN(value)) {
    delete next[key];
  } else {
    next[key] = value;
  }
  scenario[name] = next;
  changed();
}

// What a JSON schema lets a key be: names, yes or no, a whole number, or whatever is typed.
function kindOf(schema) {
  const all = [schema].concat(schema.anyOf || []);
  const named = all.find((one) => Array.isArray(one.enum));
  if (named) {
    return {names: named.enum.filter((one) => typeof one === 'string')};
  }
  const types = all.flatMap((one) => one.type || []);
  return {flag: types.includes('boolean'), whole: types.includes('integer'), number: types.includes('number'),
    deep: !types.some((one) => ['boolean', 'integer', 'number', 'string'].includes(one))};
}

function namesField(names, value, usual, onChange) {
  const select = element('select');
  select.append(element('option', {value: '', textContent: usual === undefined ? 'as usual' : usual + ' (usual)'}));
  names.filter((name) => name !== usual).forEach((name) => select.append(element('option', {value: name, textContent: name})));
  select.value = value === undefined || value === usual ? '' : value;
  select.addEventListener('change', () => onChange(select.value));
  return select;
}

// A slider over powers of two, and a field for any number.
function numberField(key, value, usual, onChange) {
  const field = element('input', {type: 'number', min: 1, step: 1, value: value === undefined ? '' : value,
    placeholder: usual === undefined ? 'auto' : usual, inputMode: 'numeric'});
  field.setAttribute('aria-label', words(key));
  field.addEventListener('input', () => onChange(field.value === '' ? undefined : Number(field.value)));
  if (!kMost[key]) {
    return field;
  }
  const log = (number) => Math.log2(Math.max(1, number || usual || 1));
  const slider = element('input', {type: 'range', min: 0, max: Math.log2(kMost[key]), step: 1, value: log(value)});
  slider.setAttribute('aria-label', words(key) + ', by powers of two');
  slider.addEventListener('input', () => {
    field.value = 2 ** slider.value;
    onChange(Number(field.value));
  });
  field.addEventListener('input', () => { slider.value = log(Number(field.value)); });
  return element('span', {className: 'slide'}, slider, field);
}

function flagField(value, usual, onChange) {
  const box = element('input', {type: 'checkbox', checked: value === undefined ? usual === true : value});
  box.addEventListener('change', () => onChange(box.checked === (usual === true) ? undefined : box.checked));
  return box;
}

function textField(value, usual, onChange) {
  const field = element('input', {type: 'text', value: value === undefined ? '' : value, spellcheck: false,
    placeholder: usual === undefined || usual === null ? 'as usual' : usual});
  field.addEventListener('change', () => onChange(field.value !== '' && !Number.isNaN(Number(field.value))
    ? Number(field.value) : field.value));
  return field;
}

// The row of a key, as its schema says; nothing where the key holds more than a field can.
function row(name, key) {
  const schema = choices[name].properties[key];
  const kind = kindOf(schema);
  const value = part(name)[key];
  if (kind.deep || (typeof value === 'object' && value !== null)) {
    return '';
  }
  const usual = schema.default === null ? undefined : schema.default;
  const onChange = (to) => put(name, key, to);
  const field = kind.names ? namesField(kind.names, value, usual, onChange)
    : kind.flag ? flagField(value, usual, onChange)
    : kind.whole ? numberField(key, value, usual, onChange)
    : textField(value, usual, onChange);
  const made = element('label', {className: 'row', title: schema.description || ''},
    element('span', {textContent: words(key)}), field);
  made.dataset.path = name + '.' + key;
  return made;
}

// A cluster is a name, or an object with its name and what is fixed of it.
const clusterName = () => (typeof scenario.cluster === 'string' ? scenario.cluster : part('cluster').name || '');
const listed = (list, name) => choices[list].find((one) => one.name === name);

function putCluster(name, nodes) {
  scenario.cluster = nodes === undefined ? name : {name: name, nodes: nodes};
}

function showSize() {
  const fixed = listed('clusters', clusterName());
  const divided = fixed && (fixed.pod || fixed.slice || fixed.nodes);
  $('size').replaceChildren();
  if (divided) {
    return;  // as large as it is, or as the plan needs
  }
  const made = element('label', {className: 'row', title: 'left out: as many as the plan needs'},
    element('span', {textContent: 'Nodes'}), numberField('nodes', part('cluster').nodes, undefined, (nodes) => {
      putCluster(clusterName(), nodes);
      changed();
    }));
  made.dataset.path = 'cluster.nodes';
  $('size').append(made);
}

function options(select, list, words, more) {
  select.replaceChildren(...(more || []), ...list.map((one) => element('option', {
    value: one.name, textContent: one[words] || one.name, title: one.title || ''})));
}

// Puts the scenario into the fields.
function show() {
  const isOwn = typeof scenario.model === 'object';
  $('model').value = isOwn ? kOwn : scenario.model;
  $('own').hidden = !isOwn;
  if (isOwn && scenario.model) {
    $('own-text').value = JSON.stringify(scenario.model, null, 1);
  }
  $('cluster').value = clusterName();
  $('stack').value = typeof scenario.stack === 'string' ? scenario.stack : choices.default_stack;
  showSize();
  $('training').replaceChildren(...kTraining.map((key) => row('training', key)));
  $('plan').replaceChildren(...kPlan.map((key) => row('plan', key)));
  $('more').replaceChildren(...Object.keys(choices.plan.properties)
    .filter((key) => !kPlan.includes(key) && !['$schema', 'notes'].includes(key)).map((key) => row('plan', key)));
}

// Links: the scenario as base64 of its JSON, behind the page's address.
function toFragment(value) {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
function fromFragment(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
    const value = JSON.parse(new TextDecoder().decode(bytes));
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function tell(lines) {
  $('errors').replaceChildren(...lines.map((line) => element('p', {textContent: line})));
  document.querySelectorAll('[data-path]').forEach((one) => {
    one.classList.toggle('wrong', lines.some((line) => line.includes(one.dataset.path + ':')));
  });
}
const plain = (lines) => lines.map((line) => line.replace(/^question:\d+:\d+: /, ''));

// What stands in the answer's cards, in one line: the figures themselves are the library's.
function summarize(good) {
  const all = [...document.querySelectorAll('#answer .cards > div')];
  const value = (name) => {
    const card = all.find((one) => one.querySelector('dt').textContent.startsWith(name));
    return card ? card.querySelector('dd').firstChild.textContent : '';
  };
  $('summary').replaceChildren();
  [['iteration time', ''], ['MFU', 'MFU '], ['memory', '']].forEach(([name, before]) => {
    if (value(name)) {
      $('summary').append(element('span', {}, before, element('b', {textContent: value(name)})));
    }
  });
  all.forEach((one) => one.classList.toggle('no', !good && one.querySelector('dt').textContent.startsWith('memory')));
  $('summary').append(element('span', {className: good ? 'fits' : 'no', textContent: good ? 'fits' : 'does not fit'}));
}

async function answer() {
  const number = ++asked;
  let reply;
  try {
    reply = await ask({question: 'run', scenario: scenario});
  } catch (error) {
    reply = {errors: ['No answer: ' + error.message]};
  }
  if (number !== asked) {
    return;  // another question has been asked since
  }
  $('answer').classList.toggle('old', Boolean(reply.errors));
  if (reply.errors) {
    $('summary').replaceChildren(element('span', {className: 'no', textContent: 'no answer'}));
    tell(plain(reply.errors));
    return;
  }
  tell([]);
  $('answer').innerHTML = reply.html;
  $('answer').dataset.devices = reply.figures.scenario.devices || '';
  summarize(reply.good);
}

function changed() {
  history.replaceState(null, '', '#' + toFragment(scenario));
  $('told').replaceChildren();
  clearTimeout(timer);
  timer = setTimeout(answer, kPatienceMs);
}

function start(from) {
  scenario = JSON.parse(JSON.stringify(from));
  delete scenario.title;  // it tells of what was, not of what becomes of it
  delete scenario.notes;
  show();
  changed();
}

// Plans that were found, each with a button that takes it over.
async function search() {
  const question = {question: 'search', search: {scenario: Object.assign({}, scenario)}};
  delete question.search.scenario.plan;
  const devices = Number($('answer').dataset.devices);
  if (devices && !part('cluster').nodes) {
    question.search.devices = devices;
  }
  $('search').disabled = true;
  $('search').textContent = 'Searching …';
  const reply = await ask(question).catch((error) => ({errors: ['No answer: ' + error.message]}));
  $('search').disabled = false;
  $('search').textContent = 'Find the best plan';
  if (reply.errors) {
    tell(plain(reply.errors));
    return;
  }
  const plans = reply.figures.plans || [];
  $('found').hidden = false;
  $('found').innerHTML = reply.html;
  const close = element('button', {type: 'button', textContent: 'Close'});
  close.addEventListener('click', () => { $('found').hidden = true; });
  $('found').prepend(element('div', {className: 'head'}, element('h2', {textContent: 'Plans that were found'}), close));
  const rows = [...$('found').querySelectorAll('.answer table')].map((table) => [...table.querySelectorAll('tbody tr')])
    .find((all) => all.length >= plans.length && plans.length > 0) || [];
  plans.forEach((found, i) => {
    const use = element('button', {type: 'button', textContent: 'Use'});
    use.addEventListener('click', () => {
      scenario.plan = found.plan;
      show();
      changed();
      window.scrollTo({top: 0, behavior: 'smooth'});
    });
    if (rows[i]) {
      rows[i].prepend(element('td', {}, use));
    }
  });
  if (rows.length > 0) {
    const head = rows[0].length === 0 ? null : rows[0].closest('table').querySelector('thead tr');
    if (head) {
      head.prepend(element('th'));
    }
    rows.slice(plans.length).forEach((one) => one.prepend(element('td')));
  }
  $('found').scrollIntoView({behavior: 'smooth', block: 'start'});
}

function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], {type: type}));
  element('a', {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const kEndings = {megatron: '.sh', slurm: '.sbatch', nemo: '.yaml', 'megatron-bridge': '.yaml', torchtitan: '.toml',
  deepspeed: '.json'};

async function launch() {
  const format = $('launcher').value;
  const reply = await ask({question: 'export', scenario: scenario, format: format, accept_loss: true});
  if (reply.errors) {
    $('told').replaceChildren(...plain(reply.errors).map((line) => element('li', {textContent: line})));
    return;
  }
  const file = reply.figures;
  download('titer-' + format + (kEndings[format] || '.txt'), file.text, 'text/plain');
  $('told').replaceChildren(
    ...file.lost.map((line) => element('li', {textContent: 'cannot be said: ' + line})),
    ...file.elsewhere.map((line) => element('li', {textContent: 'told elsewhere: ' + line})));
}

async function take(form, name, type) {
  const reply = await ask(Object.assign({question: 'run', scenario: scenario}, form));
  if (reply.errors) {
    tell(plain(reply.errors));
  } else {
    download(name, reply.text, type);
  }
}

function listen() {
  $('run').addEventListener('change', () => {
    const run = listed('runs', $('run').value);
    if (run) {
      start(run.scenario);
    }
  });
  $('model').addEventListener('change', () => {
    const isOwn = $('model').value === kOwn;
    $('own').hidden = !isOwn;
    if (!isOwn) {
      scenario.model = $('model').value;
      changed();
    } else {
      $('own-text').focus();
    }
  });
  $('own-text').addEventListener('input', () => {
    try {
      scenario.model = JSON.parse($('own-text').value);
    } catch (error) {
      tell(['The model is no JSON: ' + error.message]);
      $('own-text').classList.add('wrong');
      return;
    }
    $('own-text').classList.remove('wrong');
    changed();
  });
  $('cluster').addEventListener('change', () => {
    const next = listed('clusters', $('cluster').value);
    putCluster(next.name, next.pod || next.slice || next.nodes ? undefined : part('cluster').nodes);
    showSize();
    changed();
  });
  $('stack').addEventListener('change', () => {
    scenario.stack = $('stack').value;
    changed();
  });
  $('search').addEventListener('click', search);
  $('link').addEventListener('click', async () => {
    await navigator.clipboard.writeText(location.href).catch(() => window.prompt('The link', location.href));
    $('link').textContent = 'Copied';
    setTimeout(() => { $('link').textContent = 'Copy a link'; }, 1500);
  });
  $('json').addEventListener('click', () => download('scenario.json', JSON.stringify(scenario, null, 2) + '\n', 'application/json'));
  $('csv').addEventListener('click', () => take({csv: true}, 'titer.csv', 'text/csv'));
  $('report').addEventListener('click', () => take({report: true}, 'titer.html', 'text/html'));
  $('launch').addEventListener('click', launch);
  $('form').addEventListener('submit', (event) => event.preventDefault());
  window.addEventListener('hashchange', () => {
    const linked = fromFragment(location.hash.slice(1));
    if (linked) {
      start(linked);
    }
  });
}

async function begin() {
  choices = await ask({question: 'choices'});
  if (choices.errors) {
    $('answer').textContent = choices.errors.join('\n');
    return;
  }
  options($('run'), choices.runs, 'title', [element('option', {value: '', textContent: 'one of the shipped runs …'})]);
  options($('model'), choices.models, 'title', [element('option', {value: kOwn, textContent: 'one of your own …'})]);
  options($('cluster'), choices.clusters, 'name');
  options($('stack'), choices.stacks, 'name');
  options($('launcher'), choices.launchers.map((name) => ({name: name})), 'name');
  $('foot').textContent = 'Titer ' + choices.version;
  listen();
  start(fromFragment(location.hash.slice(1)) || listed('runs', 'llama3-70b-64xh100').scenario);
}
begin().catch((error) => { $('answer').textContent = 'No answer: ' + error.message; });
}());
