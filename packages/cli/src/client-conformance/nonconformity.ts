/** A client that does something else than a case expects. */
export class Nonconformity extends Error {
  override readonly name = 'Nonconformity';
}
