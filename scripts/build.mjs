// Makes the packages that others install: the libraries as JavaScript with declarations, and the bundled command line.
//
//   npm run build                          into build/<package>, with an archive beside it: build/tenon-client-0.1.0.tgz
//   npm run build -- --out <folder>        into <folder>/<package>
//   npm run build -- <package> …           those packages alone
//
// The server offers the same archives, which scripts/build-packages.mjs makes at set-up.
import './lib/require-node.mjs';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { buildPackage, published } from './lib/publish.mjs';
import { root } from './lib/workspace.mjs';

const { values, positionals: wanted } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
// npm runs scripts in the root, wherever it was called.
const out = values.out === undefined ? join(root, 'build') : resolve(process.env.INIT_CWD ?? '.', values.out);

for (const name of wanted.filter((name) => !published.includes(name))) {
  console.error(`There is no package ${name} to build, only ${published.join(', ')}`);
  process.exit(2);
}
for (const name of wanted.length === 0 ? published : wanted) {
  const { file, files, archive } = await buildPackage(name);
  rmSync(join(out, name), { recursive: true, force: true });
  for (const [path, content] of files) {
    mkdirSync(dirname(join(out, name, path)), { recursive: true });
    writeFileSync(join(out, name, path), content);
  }
  writeFileSync(join(out, file), archive);
  console.log(join(out, file));
}
