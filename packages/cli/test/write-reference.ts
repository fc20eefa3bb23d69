// Writes docs/reference/cli.md anew from the program's own help: node packages/cli/test/write-reference.ts
import { writeFile } from 'node:fs/promises';
import { presentReference, referenceFile } from './helpers/reference.ts';

await writeFile(referenceFile, await presentReference());
