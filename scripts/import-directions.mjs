// Fails when an import goes a way that it may not; see lib/import-rules.mjs for the rules.
import './lib/require-node.mjs';
import { importFaults } from './lib/import-rules.mjs';
import { root } from './lib/workspace.mjs';

const faults = importFaults(root);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
