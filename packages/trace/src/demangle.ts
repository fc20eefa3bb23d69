export { createDemangler, type Demangle, type DemanglerOptions } from './demangle/demangler.ts';
