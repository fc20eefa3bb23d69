// Writes the software bill of materials of the server as CycloneDX: the packages that an installation contains, and Node.js.
//
//   npm run sbom                       into build/tenon-<version>.cdx.json
//   npm run sbom -- --out <folder>     into another folder
//
// The Debian package and the image contain it as well.
import './lib/require-node.mjs';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { formatBom, serverBom } from './lib/sbom.mjs';
import { root } from './lib/workspace.mjs';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = values.out === undefined ? join(root, 'build') : resolve(process.env.INIT_CWD ?? '.', values.out);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const file = join(out, `tenon-${version}.cdx.json`);
mkdirSync(out, { recursive: true });
writeFileSync(file, formatBom(serverBom()));
console.log(file);
