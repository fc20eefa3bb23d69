import { useState } from 'preact/hooks';
import { hasCode } from '../api/api-error.ts';

/** A field of a resource as a conflict shows it: what it is called, and its value as text. */
export interface EditedField {
  readonly label: string;
  readonly text: string;
}

/** A change that was refused since the resource has changed. */
export interface EditConflict<T> {
  /** The state that the form started from. */
  readonly base: T;
  /** The state that is stored. */
  readonly now: T;
}

/** The editing of a resource that others may change meanwhile. */
export interface Edit<T> {
  /** The state that the form is based on. */
  readonly base: T;
  readonly conflict: EditConflict<T> | undefined;
  /**
   * Saves a change of the base. When the resource has changed since, but none of the edited fields has, the change is sent again, based on
   * the present state.
   *
   * @param put sends the change, with `basedOn` as the options of {@link ApiClient.put} have it
   * @throws DOMException `AbortError` when there is a conflict to settle first
   */
  readonly save: (put: (basedOn: T) => Promise<T>) => Promise<T>;
  /** Takes the present state as the base, and ends the conflict. */
  readonly rebase: () => void;
}

/**
 * @param loaded what the form starts from
 * @param read reads the present state
 * @param fieldsOf the fields that the form edits
 */
export function useEdit<T extends object>(
  loaded: T,
  read: () => Promise<T>,
  fieldsOf: (state: T) => readonly EditedField[],
): Edit<T> {
  const [base, setBase] = useState(loaded);
  const [conflict, setConflict] = useState<EditConflict<T>>();
  const save: Edit<T>['save'] = async (put) => {
    for (let basedOn = base; ; ) {
      try {
        return await put(basedOn);
      } catch (error) {
        if (!hasCode(error, 'precondition_failed')) throw error;
      }
      const now = await read();
      if (JSON.stringify(fieldsOf(now)) !== JSON.stringify(fieldsOf(base))) {
        setConflict({ base, now });
        throw new DOMException('The resource has changed', 'AbortError');
      }
      basedOn = now;
    }
  };
  return {
    base,
    conflict,
    save,
    rebase() {
      if (conflict !== undefined) setBase(conflict.now);
      setConflict(undefined);
    },
  };
}
