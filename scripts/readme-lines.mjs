// Runs the README's shell lines in a folder in which a server's `tenon-data` lies: node scripts/readme-lines.mjs [folder]
import './lib/require-node.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { runShellSteps, shellSteps } from './lib/shell-story.mjs';
import { root } from './lib/workspace.mjs';

const steps = shellSteps(readFileSync(join(root, 'README.md'), 'utf8'));
const faults = await runShellSteps(steps, process.argv[2] ?? root, process.env);
for (const fault of faults) console.error(`README.md, ${fault}`);
if (faults.length > 0) process.exitCode = 1;
else console.log(`All ${steps.length} shell lines of the README do what it says.`);
