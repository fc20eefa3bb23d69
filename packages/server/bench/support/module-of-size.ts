/** A valid module of exactly so many bytes: an empty one with a custom section that fills it up. */
export function moduleOfSize(size: number): Uint8Array<ArrayBuffer> {
  const preamble = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
  const name = [4, ...Buffer.from('fill')];
  const content = size - preamble.length - 1 - 5; // the section's id, and its size in a LEB of five bytes
  const leb = Array.from({ length: 5 }, (_, at) => ((content >>> (7 * at)) & 0x7f) | (at < 4 ? 0x80 : 0));
  const bytes = new Uint8Array(size);
  bytes.set([...preamble, 0, ...leb, ...name]);
  for (let at = preamble.length + 6 + name.length; at < size; at++) bytes[at] = (at * 31) & 0xff;
  return bytes;
}
