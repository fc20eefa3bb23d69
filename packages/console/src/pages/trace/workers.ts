import inspectWorkerUrl from './inspect/inspect.worker.ts?worker&url';
import runWorkerUrl from './run/run.worker.ts?worker&url';

/*
 * Both workers are scripts of the build. The page's policy accepts script URLs only through this trusted type
 * (https://www.w3.org/TR/trusted-types/), which accepts only these two.
 */

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

const addresses = { inspect: inspectWorkerUrl, run: runWorkerUrl } as const;

const policy = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('tenon-workers', {
  createScriptURL(url) {
    if (url !== inspectWorkerUrl && url !== runWorkerUrl) throw new TypeError('not a worker of this page');
    return url;
  },
});

/** `inspect` describes and instruments a module; `run` runs one once. */
export function startWorker(kind: keyof typeof addresses): Worker {
  const url = addresses[kind];
  return new Worker(policy?.createScriptURL(url) ?? url, { type: 'module', name: `tenon-${kind}` });
}
