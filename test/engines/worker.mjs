// Exercises a package in a web worker: it receives the exercise and its arguments, and sends the result.

/**
 * @typedef {{ exercise: string, packageUrl: string, modules: Record<string, Uint8Array> }} Task
 * @typedef {{ onmessage: (event: { data: Task }) => void, postMessage: (answer: unknown) => void }} Scope
 */
const scope = /** @type {Scope} */ (/** @type {unknown} */ (globalThis));

scope.onmessage = async ({ data }) => {
  try {
    const { exercise } = await import(new URL(data.exercise, import.meta.url).href);
    scope.postMessage(await exercise(data.packageUrl, data.modules));
  } catch (error) {
    scope.postMessage({ error: String(error) });
  }
};
