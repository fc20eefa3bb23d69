import type { Mismatch } from '@tenon/extension-schema/interface-check';
import type { ExtensionPointRecord } from '../db/records.ts';

/** What an extension point demands of a module. */
export type ModuleRequirements = Pick<ExtensionPointRecord, 'schemaJson' | 'limits'>;

/** What is known of a module that was checked. */
export interface CheckedModule {
  /** Its `ModuleInterface` as JSON; `null` when that is too large to be kept. */
  readonly interfaceJson: string | null;
  /** How it does not fit what was demanded; nothing where nothing was. */
  readonly mismatches: readonly Mismatch[];
}

/** Options of a job that waits in a fair queue. */
export interface JobOptions {
  /** The queue takes turns between keys: the id of the account. */
  readonly fairnessKey?: string | undefined;
  /** Aborts when the client no longer waits for the result. */
  readonly signal?: AbortSignal | undefined;
}

/** Looks at modules, their interfaces and schemas, which may be large or odd, off the main thread. */
export interface ModuleChecker {
  /**
   * Tells whether bytes are a valid core module, and whether it fits what is demanded.
   *
   * @throws DomainError with the code and, where known, the byte offset for bytes that are no valid core module
   */
  check(bytes: Uint8Array, demands?: ModuleRequirements, asker?: JobOptions): Promise<CheckedModule>;
  /** Tells of each of some interfaces, as {@link CheckedModule} has them, how it does not fit. */
  compare(
    interfaces: readonly string[],
    demands: ModuleRequirements,
    asker?: JobOptions,
  ): Promise<readonly (readonly Mismatch[])[]>;
  /**
   * Reads an extension point's schema: an object, or its YAML or JSON text.
   *
   * @returns the schema as it is kept
   * @throws DomainError `invalid_field` with every fault that was found, each with its place
   */
  readSchema(schema: unknown, asker?: JobOptions): Promise<string>;
}
