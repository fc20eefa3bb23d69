import * as extism from '@extism/extism';
import { describeExtismFunctions } from './support/describe-extism.ts';

describeExtismFunctions('Extism 1', extism);
