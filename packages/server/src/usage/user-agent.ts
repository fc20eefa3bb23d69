/** Counts requests whose user agent is missing, unusual, or one too many. */
export const otherAgent = 'other';

/** A product and its version as most programs send them. A secret, an address, or a name doesn't fit. */
const pattern = /^([A-Za-z][A-Za-z-]{1,23})(?:\/v?(\d{1,5}(?:\.\d{1,5}){0,2})(?![\w]))?(?=$|[ ;,.+-])/;

/** Reduces a `user-agent` to the first product and its version, such as `tenon-client/0.1.0`; otherwise `other`. */
export function reduceUserAgent(text: string | undefined): string {
  const [, product, version] = pattern.exec(text ?? '') ?? [];
  if (product === undefined) return otherAgent;
  return version === undefined ? product : `${product}/${version}`;
}
