import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
  completionKeymap,
  completionStatus,
  startCompletion,
} from '@codemirror/autocomplete';
import { type Extension, Prec } from '@codemirror/state';
import { type EditorView, hoverTooltip, keymap } from '@codemirror/view';
import type { KeyHelp, Suggestion, Suggestions } from './schema-help.ts';

/** What an editor knows of its language. */
export interface Language {
  /** @param isAsked whether the user asked for it; else an empty place where a key could stand has no suggestions */
  readonly suggest: (text: string, offset: number, isAsked: boolean) => Suggestions | undefined;
  readonly helpAt: (text: string, offset: number) => KeyHelp | undefined;
}

/** Completion, and descriptions of keys under the pointer. */
export function editorHelp({ suggest, helpAt }: Language): Extension {
  return [
    autocompletion({
      override: [(context) => complete(context, suggest)],
      icons: false,
      defaultKeymap: false,
    }),
    Prec.highest(
      keymap.of([{ key: 'Escape', run: closeSuggestions }, ...completionKeymap.filter(({ key }) => key !== 'Escape')]),
    ),
    hoverTooltip(({ state }, offset) => {
      const help = helpAt(state.doc.toString(), offset);
      if (help === undefined) return null;
      return { pos: help.from, end: help.to, above: true, create: () => ({ dom: describe(help) }) };
    }),
  ];
}

/** Lets Escape reach the editor, which then lets Tab leave it, unless a list is open. */
function closeSuggestions(view: EditorView): boolean {
  const isOpen = completionStatus(view.state) === 'active';
  closeCompletion(view);
  return isOpen;
}

function complete({ state, pos, explicit }: CompletionContext, suggest: Language['suggest']): CompletionResult | null {
  const found = suggest(state.doc.toString(), pos, explicit);
  if (found === undefined) return null;
  return { from: found.from, options: found.items.map(toCompletion), validFor: /^["'\w$#/.;= -]*$/ };
}

function toCompletion({ label, description, text, hasValues }: Suggestion): Completion {
  return {
    label,
    ...(description === '' ? {} : { info: description }),
    apply(view, _completion, from, to) {
      view.dispatch({
        changes: { from, to, insert: text },
        selection: { anchor: from + text.length },
        userEvent: 'input.complete',
        scrollIntoView: true,
      });
      if (hasValues) startCompletion(view);
    },
  };
}

function describe({ key, description, values }: KeyHelp): HTMLElement {
  const dom = document.createElement('div');
  dom.className = 'cm-key-help';
  const name = document.createElement('strong');
  name.textContent = key;
  const known = values === undefined ? '' : ` One of: ${values.join(', ')}.`;
  dom.append(name, ` ${description}${known}`);
  return dom;
}
