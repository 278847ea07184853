// node assemble.js MODULE.js OUT.html: the page with the library in it, one file that needs neither program nor network.
const fs = require('fs');
const path = require('path');
const [, , moduleFile, out] = process.argv;
const here = (name) => fs.readFileSync(path.join(__dirname, name), 'utf8');
const code = fs.readFileSync(moduleFile, 'utf8') + here('worker.js');
const kMark = '/* what answers */';
// Inside a script no text may look like its end.
const asker = 'const titerCode = ' + JSON.stringify(code).replaceAll('</', '<\\/') + ';\n' + here('asker.js');
require(path.resolve(moduleFile))().then((module) => {
  const page = module.ccall('titer_page', 'string', ['string'], [kMark]);
  fs.writeFileSync(out, page.replace(kMark, () => asker));
});
