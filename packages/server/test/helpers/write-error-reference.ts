// Writes docs/reference/errors.md anew out of the table of errors.
import { writeFileSync } from 'node:fs';
import { errorReferenceMarkdown } from './error-reference.ts';

writeFileSync(new URL('../../../../docs/reference/errors.md', import.meta.url), errorReferenceMarkdown());
