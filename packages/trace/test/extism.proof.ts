import { createRequire } from 'node:module';
import type * as Extism from '@extism/extism';
import { describeExtismFunctions } from './support/describe-extism.ts';

const require = createRequire(new URL('../../../test/proof/package.json', import.meta.url));

// XTP's client brings a release candidate of the next version.
describeExtismFunctions('Extism 2', require('@extism/extism') as typeof Extism);
