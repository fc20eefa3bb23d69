/** Where modules are instrumented and run. The server answers this path alone with headers that allow it. */
export const tracePath = '/trace';
