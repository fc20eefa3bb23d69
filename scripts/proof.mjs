// Runs the tests that take longer, `*.proof.ts`, and ends with node's own summary.
//
//   npm run proof                                  all of them
//   npm run proof -- packages/server               those of a folder or a file
//   npm run proof -- --test-name-pattern='race'    node's own options come after `--` too
import './lib/require-node.mjs';
import process from 'node:process';
import { runTests } from './lib/run-tests.mjs';

await runTests('proof', process.argv.slice(2));
