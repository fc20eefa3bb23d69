import { currentPath } from '../base-path.ts';
import { tracePath } from './trace-path.ts';

/** Whether the browser has loaded the document from there; what one goes to later in the same document changes nothing. */
export const isTraceDocument = currentPath().replace(/\/*(?:\?.*)?$/, '') === tracePath;
