import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, isAbort } from '../api/api-error.ts';

/** The state of an action that may fail, such as submitting a form. */
export interface Submit {
  /** For the form's `onSubmit`, or to call directly. Ignored while busy. */
  readonly submit: (event?: Event) => void;
  readonly isBusy: boolean;
  /** The error, unless the faults of fields are all of it. */
  readonly error: unknown;
  /** Returns the fault of a field of the request's body. */
  readonly fieldError: (name: string) => string | undefined;
  /** Clears the error. */
  readonly reset: () => void;
}

/**
 * Runs an action, tracks whether it is busy, and assigns the server's faults to fields.
 *
 * @param fields names of the fields that show their faults with `fieldError`
 */
export function useSubmit(action: () => Promise<void>, fields: readonly string[] = []): Submit {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error: unknown }>({
    isBusy: false,
    error: undefined,
  });
  const isBusy = useRef(false);
  const form = useRef<HTMLFormElement | undefined>(undefined);

  const submit = async (event?: Event): Promise<void> => {
    event?.preventDefault();
    if (event?.currentTarget instanceof HTMLFormElement) form.current = event.currentTarget;
    if (isBusy.current) return;
    isBusy.current = true;
    setState({ isBusy: true, error: undefined });
    let failure: unknown;
    try {
      await action();
    } catch (error) {
      if (!isAbort(error)) failure = error;
    }
    isBusy.current = false;
    setState({ isBusy: false, error: failure });
  };

  // Focusing the first invalid field makes screen readers announce its error.
  useLayoutEffect(() => {
    if (state.error !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [state.error]);

  const faults = sortFaults(state.error, fields);
  return {
    submit: (event) => void submit(event),
    isBusy: state.isBusy,
    error: faults.rest,
    fieldError: (name) => faults.byField.get(name),
    reset: useCallback(() => setState(({ isBusy }) => ({ isBusy, error: undefined })), []),
  };
}

interface SortedFaults {
  readonly byField: ReadonlyMap<string, string>;
  /** The whole error; `undefined` if every fault belongs to a field. */
  readonly rest: unknown;
}

/** Assigns an error's faults to fields. */
export function sortFaults(error: unknown, fields: readonly string[]): SortedFaults {
  const byField = new Map<string, string>();
  if (!(error instanceof ApiError) || error.errors.length === 0) return { byField, rest: error };
  let isAll = true;
  for (const { pointer, detail } of error.errors) {
    const name = fields.find((field) => pointer === `/${field}` || pointer.startsWith(`/${field}/`));
    if (name === undefined) isAll = false;
    else byField.set(name, byField.has(name) ? `${byField.get(name)} ${detail}` : detail);
  }
  return { byField, rest: isAll ? undefined : error };
}
