// Compiled with everything else, and never run: the package has types of its own, so that it stands alone when it is published, and these are
// held equal to the protocol's here.
import type { Binding, BindingList } from '@tenon/client';
import type * as protocol from '@tenon/protocol';

/** `never` unless two types are the same, `readonly` apart. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;

export const sameTypes: [Same<Binding, protocol.Binding>, Same<BindingList, protocol.BindingList>] = [true, true];
