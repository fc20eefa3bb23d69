import type { ComponentType } from 'preact';

/** A page: where it is, who may see it, and how its code is loaded. */
export interface PageRoute {
  /** Without the path prefix; `:name` stands for a segment. */
  readonly path: string;
  /** `signedIn`: who isn't signs in first, in the same place, and then sees it. */
  readonly access: 'anyone' | 'signedIn';
  /** Whether it stands alone, without the navigation around it: pages on which one does one thing and goes. */
  readonly isBare?: true;
  readonly load: () => Promise<ComponentType>;
}
