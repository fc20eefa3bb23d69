import { type ByteWriter, putU32 } from '../binary/writer.ts';

/** A part of the output: bytes, or a function that writes them in place. */
export type Piece = Uint8Array | { readonly length: number; readonly writeTo: (out: Uint8Array, at: number) => void };

/** Adds a section with the contents that were written. */
export function addWritten(pieces: Piece[], id: number, writer: ByteWriter): void {
  pieces.push(sectionHeader(id, writer.length), writer.bytes.subarray(0, writer.length));
}

/** The id and size of a section. */
export function sectionHeader(id: number, size: number): Uint8Array {
  const encoded = new Uint8Array(6);
  encoded[0] = id;
  return encoded.subarray(0, putU32(encoded, 1, size));
}

export function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((total, piece) => total + piece.length, 0);
}

export function concatenate(pieces: readonly Piece[]): Uint8Array<ArrayBuffer> {
  const output = new Uint8Array(lengthOf(pieces));
  let at = 0;
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) output.set(piece, at);
    else piece.writeTo(output, at);
    at += piece.length;
  }
  return output;
}
