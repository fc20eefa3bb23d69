import lookWorkerUrl from './look/look.worker.ts?worker&url';
import runWorkerUrl from './run/run.worker.ts?worker&url';

/*
 * Both kinds of worker are scripts of this console's, at addresses that the build gives. The page's policy lets addresses become scripts
 * by way of one trusted type alone (https://www.w3.org/TR/trusted-types/), which knows these two and no other.
 */

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

const addresses = { look: lookWorkerUrl, run: runWorkerUrl } as const;

const policy = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('tenon-workers', {
  createScriptURL(url) {
    if (url !== lookWorkerUrl && url !== runWorkerUrl) throw new TypeError('Only the workers of this page are scripts');
    return url;
  },
});

/** `look` looks at a module and instruments it; `run` runs one, and is ended after that. */
export function startWorker(kind: keyof typeof addresses): Worker {
  const url = addresses[kind];
  return new Worker(policy?.createScriptURL(url) ?? url, { type: 'module', name: `tenon-${kind}` });
}
