// Compiled, never run: checks that the package's own types equal those of the protocol, which it does not import.
import type { Binding, BindingList } from '@tenon/client';
import type { RecordedFixture } from '@tenon/client/record';
import type * as protocol from '@tenon/protocol';

/** `never` unless two types are equal except for `readonly`. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;

export const sameTypes: [Same<Binding, protocol.Binding>, Same<BindingList, protocol.BindingList>] = [true, true];

/** Recorded fixtures are fixtures. */
export const asFixture = (recorded: readonly RecordedFixture[]): DeepReadonly<protocol.Fixture>[] => [...recorded];

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;
