import { describeFault, readExtensionPointSchema, SchemaError } from '@tenon/extension-schema';
import { DomainError } from '../http/domain-errors.ts';
import type { ReadSchema } from '../plugins/module-checker.ts';

/**
 * Parses an extension point's schema.
 *
 * @throws DomainError `invalid_field` with all faults and their locations
 */
export function readSchema(schema: unknown): ReadSchema {
  try {
    const { json, warnings } = readExtensionPointSchema(schema);
    return {
      schemaJson: json,
      warnings: warnings.map(({ pointer, detail, position }) => ({
        pointer: `/schema${pointer}`,
        detail,
        line: position?.line ?? null,
        column: position?.column ?? null,
      })),
    };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const errors = error.faults.map((fault) => ({ pointer: `/schema${fault.pointer}`, detail: describeFault(fault) }));
    throw new DomainError('invalid_field', `/schema${error.pointer}: ${error.message}`, { errors });
  }
}
