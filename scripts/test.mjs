// Runs the quick tests, `*.test.ts`, and ends with node's own summary.
//
//   npm test                                       all of them
//   npm test -- packages/protocol                  those of a folder or a file
//   npm test -- --test-name-pattern='publish'      node's own options come after `--` too
import './lib/require-node.mjs';
import process from 'node:process';
import { runTests } from './lib/run-tests.mjs';

await runTests('test', process.argv.slice(2));
