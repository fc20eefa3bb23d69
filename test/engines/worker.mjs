// Exercises the package in a web worker: it is sent what `exercise` takes, and answers what that gives.
import { exercise } from './exercise.mjs';

/**
 * @typedef {{ packageUrl: string, modules: Record<string, Uint8Array> }} Task
 * @typedef {{ onmessage: (event: { data: Task }) => void, postMessage: (answer: unknown) => void }} Scope
 */
const scope = /** @type {Scope} */ (/** @type {unknown} */ (globalThis));

scope.onmessage = async ({ data }) => {
  try {
    scope.postMessage(await exercise(data.packageUrl, data.modules));
  } catch (error) {
    scope.postMessage({ error: String(error) });
  }
};
