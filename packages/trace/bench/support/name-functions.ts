import { listFunctions } from '@tenon/instrument';
import { customSection, leb, sized, text, vector } from '../../../../test/helpers/module-bytes.ts';

/**
 * Gives the functions of a module names, `f` and their index, where none has any: packages ship their modules without, and
 * what has no name can be neither allowed nor banned.
 */
export function nameFunctions(bytes: Uint8Array): Uint8Array {
  const { functions } = listFunctions(bytes);
  if (functions.some(({ nameSource }) => nameSource === 'name-section')) return bytes;
  const entries = functions.map(({ index }) => [...leb(index), ...text(`f${index}`)]);
  // https://webassembly.github.io/spec/core/appendix/custom.html#name-section
  const names = Buffer.concat([Uint8Array.of(1), sized([vector(entries)])]);
  return new Uint8Array(Buffer.concat([bytes, customSection('name', names)]));
}
