import { href } from '../base-path.ts';

/** Compares the server's build of the console with the running one; `undefined` if the server doesn't respond. */
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
