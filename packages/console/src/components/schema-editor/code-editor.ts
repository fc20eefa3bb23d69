import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  HighlightStyle,
  type IndentContext,
  indentOnInput,
  indentService,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** An editor for YAML and JSON, apart from the framework that draws the page. */
export interface CodeEditor {
  focus(): void;
  /** Puts the cursor there, in sight. */
  goTo(offset: number): void;
  destroy(): void;
}

export interface CodeEditorOptions {
  /** It is drawn in a shadow root of this element: there its styles are a style sheet object, which the page's policy allows. */
  readonly host: HTMLElement;
  readonly text: string;
  readonly label: string;
  /** What screen readers add to the label: how to get out again. */
  readonly description: string;
  /** Completion and descriptions. */
  readonly help: Extension;
  readonly onChange: (text: string) => void;
  /** Called when the cursor has moved, also by typing. */
  readonly onCursor: (text: string, offset: number) => void;
  /** What is wrong with the text; called once typing has paused. */
  readonly check: (text: string) => readonly Diagnostic[];
}

/** Checks begin this long after the last key. */
const checkDelayMs = 250;

export function createCodeEditor(parts: CodeEditorOptions): CodeEditor {
  const { host, text, label, description, help, onChange, onCursor, check } = parts;
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const about = document.createElement('p');
  about.id = 'about';
  about.hidden = true; // what describes may be hidden
  about.textContent = description;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        indentOnInput(),
        indentUnit.of('  '),
        indentService.of(indentAfterKey),
        EditorState.tabSize.of(2),
        EditorView.lineWrapping,
        yaml(),
        syntaxHighlighting(colours),
        linter(({ state }) => check(state.doc.toString()), { delay: checkDelayMs }),
        lintGutter(),
        help,
        keymap.of([...lintKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({
          'aria-label': label,
          'aria-describedby': about.id,
          'aria-multiline': 'true',
          tabindex: '0', // what can be edited has the focus anyway; not all tools know that
          spellcheck: 'false',
          autocapitalize: 'none',
        }),
        EditorView.domEventHandlers({ beforeinput: replaceOurselves }),
        EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
          if (docChanged) onChange(state.doc.toString());
          if (docChanged || selectionSet) onCursor(state.doc.toString(), state.selection.main.head);
        }),
        theme,
      ],
    }),
  });
  root.append(about);
  return {
    focus: () => view.focus(),
    goTo(offset) {
      const anchor = Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    destroy() {
      view.destroy();
      about.remove();
    },
  };
}

/** Indents the line after a key without a value; other lines as the language does. */
function indentAfterKey(context: IndentContext, offset: number): number | undefined {
  const { text } = context.lineAt(offset, -1);
  if (!/^[^#]*[^#\s]:\s*$/.test(text)) return undefined;
  return (/^[ -]*/.exec(text)?.[0].length ?? 0) + 2;
}

/**
 * Types over a selection without the browser's help: where it puts lines together itself, it writes style attributes, which the
 * page's policy refuses.
 */
function replaceOurselves(event: InputEvent, view: EditorView): boolean {
  const { inputType, data } = event;
  if (inputType !== 'insertText' || data === null || view.composing || view.state.selection.main.empty) return false;
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  return true;
}

/** The page's own colours come through the shadow root's boundary as custom properties. */
const theme: Extension = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--card)', fontSize: '0.9rem' },
  '&.cm-focused': { outline: 'none' }, // the host shows the focus
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', maxHeight: '70vh' },
  '.cm-content, .cm-gutter': { minHeight: '22rem' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '0.75rem 0' },
  '.cm-line': { padding: '0 0.75rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { color: 'var(--soft)', backgroundColor: 'var(--sunken)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--spruce) 7%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--spruce) 28%, transparent)',
  },
  '.cm-tooltip': { color: 'var(--ink)', backgroundColor: 'var(--card)', border: '1px solid var(--line-strong)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.2rem 0.6rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--on-spruce)',
    backgroundColor: 'var(--spruce)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-tooltip.cm-completionInfo, .cm-key-help': {
    fontFamily: 'var(--font)',
    maxWidth: 'min(24rem, 70vw)',
    padding: '0.4rem 0.75rem',
  },
  '.cm-panels': { color: 'var(--ink)', backgroundColor: 'var(--sunken)' },
  '.cm-panel.cm-panel-lint ul [aria-selected]': { backgroundColor: 'var(--brick-wash)' },
  '.cm-panel.cm-panel-lint ul:focus [aria-selected]': { backgroundColor: 'var(--brick-wash)', color: 'var(--ink)' },
  '.cm-panel.cm-panel-lint button[name=close]': { color: 'var(--ink)' },
  '.cm-diagnostic': { fontFamily: 'var(--font)', padding: '0.4rem 0.75rem' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--brick)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--brick)',
    textUnderlineOffset: '0.2em',
  },
  '.cm-lint-marker-error': { content: 'normal' },
  '.cm-lint-marker-error::before': { content: '"●"', color: 'var(--brick)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--spruce)', fontWeight: '600' },
  { tag: [tags.string, tags.content], color: 'var(--ink)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.keyword], color: 'var(--oak-ink)' },
  { tag: [tags.comment, tags.meta], color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--soft)' },
  { tag: [tags.labelName, tags.typeName], color: 'var(--brick)' },
]);
