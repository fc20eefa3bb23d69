import { href } from '../base-path.ts';

/** Which build of the console the server has: the one that runs here, or another one; `undefined` when it does not answer. */
export async function checkBuild(): Promise<'same' | 'other' | undefined> {
  try {
    const response = await fetch(href('/'), { cache: 'no-store', headers: { accept: 'text/html' } });
    if (!response.ok) return undefined;
    const page = await response.text();
    const script = document.querySelector('script[type=module][src]')?.getAttribute('src') ?? '';
    return page.includes(`"${script}"`) ? 'same' : 'other';
  } catch {
    return undefined;
  }
}
