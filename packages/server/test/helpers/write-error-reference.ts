// Writes docs/reference/errors.md from the table of errors.
import { writeFileSync } from 'node:fs';
import { errorReferenceMarkdown } from './error-reference.ts';

writeFileSync(new URL('../../../../docs/reference/errors.md', import.meta.url), errorReferenceMarkdown());
