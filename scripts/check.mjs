// Everything that must hold beside the tests. All steps run, whatever the ones before found, so that one run shows all faults.
//
//   npm run check
import './lib/require-node.mjs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { libraries } from './lib/library-package.mjs';
import { root } from './lib/workspace.mjs';

/** @type {[name: string, script: string, ...args: string[]][]} */
const steps = [
  [
    'format and lint',
    'node_modules/@biomejs/biome/bin/biome',
    'ci',
    '--colors=off',
    '--error-on-warnings',
    '--diagnostic-level=warn',
    '--max-diagnostics=100',
    '.',
  ],
  ['types', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
  // What runs in a browser has the DOM's types, and none of Node's; its tests have both.
  ["the flame graph's types", 'node_modules/typescript/bin/tsc', '-p', 'packages/trace/tsconfig.viewer.json'],
  // What is published has no types of other environments, and states the types of its exports for `npm run build`.
  ...libraries.map(
    (name) =>
      /** @type {[string, string, ...string[]]} */ ([
        `the types of @tenon/${name}`,
        'node_modules/typescript/bin/tsc',
        '-p',
        `packages/${name}/tsconfig.build.json`,
      ]),
  ),
  ["the console's types", 'node_modules/typescript/bin/tsc', '-p', 'packages/console/tsconfig.json'],
  [
    "the console's and the end-to-end tests' types",
    'node_modules/typescript/bin/tsc',
    '-p',
    'packages/console/tsconfig.test.json',
  ],
  ['import directions', 'scripts/import-directions.mjs'],
  ['documentation', 'scripts/check-docs.mjs'],
  ['length of the documentation', 'scripts/count-words.mjs'],
  ['retired words', 'scripts/check-words.mjs'],
  ['OpenAPI', 'scripts/check-openapi.mjs'],
];

for (const [name, script, ...args] of steps) {
  const startedMs = performance.now();
  const { code, output } = await run(script, args);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${code === 0 ? '✔' : '✖'} ${name} (${seconds} s)`);
  if (code === 0) continue;
  console.log(output.trimEnd().replace(/^(?=.)/gm, '    '));
  process.exitCode = 1;
}

/**
 * @param {string} script
 * @param {string[]} args
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function run(script, args) {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, output }));
  });
}
