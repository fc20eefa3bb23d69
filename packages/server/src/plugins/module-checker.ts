import { type Mismatch, summarizeMismatches } from '@tenon/extension-schema/interface-check';
import type { SchemaWarning } from '@tenon/protocol';
import type { AttachedDocument, CheckedDocument } from '../attestations/check-document.ts';
import type { ExtensionPointRecord } from '../db/records.ts';
import { DomainError } from '../http/domain-errors.ts';

/** The requirements of an extension point on modules. */
export type ModuleRequirements = Pick<ExtensionPointRecord, 'schemaJson' | 'limits'>;

export interface CheckedModule {
  /** The `ModuleInterface` as JSON; `null` if it is too large to store. */
  readonly interfaceJson: string | null;
  /** How the module does not fit the requirements; empty without requirements. */
  readonly mismatches: readonly Mismatch[];
}

/** A valid schema. */
export interface ReadSchema {
  /** Its canonical JSON text. */
  readonly schemaJson: string;
  readonly warnings: readonly SchemaWarning[];
}

/** Options of a job that waits in a fair queue. */
export interface JobOptions {
  /** The queue takes turns between keys: the id of the account. */
  readonly fairnessKey?: string | undefined;
  /** Aborts when the client no longer waits for the result. */
  readonly signal?: AbortSignal | undefined;
}

/** Checks modules, interfaces and schemas outside the main thread, since they are untrusted and may be large. */
export interface ModuleChecker {
  /**
   * Validates a core module and checks it against requirements.
   *
   * @throws DomainError for invalid bytes, with the code and, where known, the byte offset
   */
  check(bytes: Uint8Array, requirements?: ModuleRequirements, jobOptions?: JobOptions): Promise<CheckedModule>;
  /** Checks interfaces, as {@link CheckedModule} has them, against requirements. Returns the mismatches of each. */
  compare(
    interfaces: readonly string[],
    requirements: ModuleRequirements,
    jobOptions?: JobOptions,
  ): Promise<readonly (readonly Mismatch[])[]>;
  /**
   * Parses an extension point's schema: an object, or its YAML or JSON text.
   *
   * @throws DomainError `invalid_field` with all faults and their locations
   */
  readSchema(schema: unknown, jobOptions?: JobOptions): Promise<ReadSchema>;
  /**
   * Reads an attached document, and verifies it with the configured trusted roots.
   *
   * @throws DomainError `invalid_field`
   */
  checkDocument(document: AttachedDocument, contentAddress: string, jobOptions?: JobOptions): Promise<CheckedDocument>;
}

export function isSameRequirements(a: ModuleRequirements, b: ModuleRequirements): boolean {
  return a.schemaJson === b.schemaJson && JSON.stringify(a.limits) === JSON.stringify(b.limits);
}

/** @throws DomainError `interface_mismatch`, with each mismatch, when there are any */
export function requireFit(mismatches: readonly Mismatch[]): void {
  if (mismatches.length === 0) return;
  const errors = mismatches.map(({ pointer, detail }) => ({ pointer, detail }));
  throw new DomainError('interface_mismatch', describeMismatches(mismatches), { errors });
}

export function describeMismatches(mismatches: readonly Mismatch[]): string {
  return `The module does not fit the extension point. ${summarizeMismatches(mismatches)}`;
}
