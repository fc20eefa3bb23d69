import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeFile } from '../../../test/helpers/file-suites.ts';

// The tests that look at pages with axe-core, which they leave out in the quick run.
for (const file of globSync('*.test.ts', { cwd: import.meta.dirname }).sort()) {
  const path = join(import.meta.dirname, file);
  if (/accessibilityFaults|faultsInBothColours/.test(readFileSync(path, 'utf8'))) {
    describeFile(file, pathToFileURL(path).href);
  }
}
