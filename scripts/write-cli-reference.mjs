// Writes docs/reference/cli.md from the command line's own help: node scripts/write-cli-reference.mjs
import './lib/require-node.mjs';
import { writeFile } from 'node:fs/promises';

const { presentReference, referenceFile } = await import('../packages/cli/test/helpers/reference.ts');
await writeFile(referenceFile, await presentReference());
