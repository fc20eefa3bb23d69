import { currentPath } from '../base-path.ts';

/** Where modules are instrumented and run. The server answers this path alone with headers that allow it. */
export const tracePath = '/trace';

/** Whether the browser has loaded the document from that path; what one goes to later in the same document changes nothing. */
export const isTraceDocument = currentPath().replace(/\/*(?:\?.*)?$/, '') === tracePath;
