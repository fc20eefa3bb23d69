import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, isAbort } from '../api/api-error.ts';

/** A form, or anything else that one starts and that may fail. */
export interface Submit {
  /** Give it to the form's `onSubmit`, or call it. Does nothing while the one before is under way. */
  readonly submit: (event?: Event) => void;
  readonly isBusy: boolean;
  /** What went wrong, beside what belongs to a field. */
  readonly error: unknown;
  /** What is wrong with a field, by its name in the body that was sent. */
  readonly fieldError: (name: string) => string | undefined;
  readonly reset: () => void;
}

/**
 * Carries something out: knows whether it is under way, and sorts what the server finds wrong to the fields.
 *
 * @param fields names of the fields that show their own faults with `fieldError`
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

  // The first field at fault gets the focus, so that who can't see it hears of it.
  useLayoutEffect(() => {
    if (state.error !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [state.error]);

  const faults = sortFaults(state.error, fields);
  return {
    submit: (event) => void submit(event),
    isBusy: state.isBusy,
    error: faults.rest,
    fieldError: (name) => faults.byField.get(name),
    reset: useCallback(() => setState({ isBusy: false, error: undefined }), []),
  };
}

interface SortedFaults {
  readonly byField: ReadonlyMap<string, string>;
  /** The error, unless all that it says stands at fields. */
  readonly rest: unknown;
}

/** Tells apart what an error says of fields, and what is left. */
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
