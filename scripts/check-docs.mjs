// Fails when a link in the documentation leads nowhere, or an example in it can't be right; see lib/docs-faults.mjs.
import './lib/require-node.mjs';
import { docsFaults } from './lib/docs-faults.mjs';
import { findFiles, root } from './lib/workspace.mjs';

const files = findFiles(['*.md', 'docs/**/*.md', 'packages/*/*.md', 'examples/*/*.md']);
const faults = docsFaults(root, files);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
