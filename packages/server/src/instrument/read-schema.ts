import { describeFault, parseExtensionPointSchema, SchemaError } from '@tenon/extension-schema';
import { DomainError } from '../http/domain-errors.ts';

/**
 * Parses an extension point's schema.
 *
 * @returns its canonical JSON text
 * @throws DomainError `invalid_field` with all faults and their locations
 */
export function readSchema(schema: unknown): string {
  try {
    return parseExtensionPointSchema(schema);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const errors = error.faults.map((fault) => ({ pointer: `/schema${fault.pointer}`, detail: describeFault(fault) }));
    throw new DomainError('invalid_field', `/schema${error.pointer}: ${error.message}`, { errors });
  }
}
