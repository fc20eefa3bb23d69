import { type Assembler, type Bytes, empty, gc, heap, op } from './assembler.ts';
import {
  type CallPath,
  type Exit,
  type OwnFunction,
  type Program,
  type ResultType,
  resultLists,
  resultsOf,
  type Statement,
  type Values,
} from './program.ts';

/** Stands before an instruction that a branch hint speaks of, and is taken out when the body is laid down. */
export const hinted = -1;

/** What a body refers to besides the program's own functions, memories and tags. */
export interface BodyReferences {
  /** The global that holds a reference to a function. */
  readonly globalOf: (functionIndex: number) => number;
  readonly typeOf: (functionIndex: number) => number;
  /** A function of type 0, for results that are references to one. */
  readonly ofTypeZero: number;
}

interface Scope {
  /** Number of labels inside the function when the scope's own was opened. */
  readonly label: number;
  /** While a handler runs: the label of its `try` is what `rethrow` names, or the local that keeps the exception. */
  handler: { readonly local: number } | undefined;
}

/** Encodes one function's code: its locals and its instructions. Local 0 is the fuel. */
export function encodeBody(program: Program, own: OwnFunction, asm: Assembler, references: BodyReferences): Bytes {
  const results = resultLists[own.results] as readonly ResultType[];
  const isLegacy = program.generation === 'legacy';
  const scopes: Scope[] = [];
  let labels = 0;
  let exceptionLocals = 0;

  const inLabel = (opening: Bytes, body: () => Bytes, closing: Bytes = [op.end]): Bytes => {
    labels++;
    const code = body();
    labels--;
    return [opening, code, closing];
  };
  const block = (body: () => Bytes) => inLabel([op.block, empty], body);
  const i32 = (value: number): Bytes => [op.i32_const, asm.s32(value)];
  const fuel = (): Bytes => [op.local_get, asm.u32(0)];
  const drops = (count: number): Bytes => new Array<number>(count).fill(op.drop);
  const toFunction = () => asm.u32(labels);
  const scopeAt = (scopesOut: number) => scopes[scopes.length - 1 - scopesOut];
  const labelOf = (scopesOut: number) => asm.u32(labels - 1 - (scopeAt(scopesOut)?.label ?? -1));

  const constant = (type: ResultType, value: number): Bytes => {
    if (type === 'i32') return i32(value);
    if (type === 'i64') return [op.i64_const, asm.s64(BigInt(value))];
    if (type === 'f64') return [op.f64_const, ...new Uint8Array(new Float64Array([value]).buffer)];
    if (type === 'anyref') return [i32(value), gc.prefix, asm.u32(gc.ref_i31)];
    const isNull = value === 0 && type !== 'nonNull';
    if (isNull) return [op.ref_null, type === 'typed' ? asm.s32(0) : heap.func];
    return [op.ref_func, asm.u32(references.ofTypeZero)];
  };
  const constants = (values: Values): Bytes => results.map((type, place) => constant(type, values[place] ?? 1));

  /** The operands and the instruction of a call; the results lie on the stack then. */
  const call = (path: CallPath, target: number, isTail: boolean): Bytes => {
    const operands = [fuel(), i32(1), op.i32_sub];
    const type = asm.u32(references.typeOf(target));
    if (path === 'direct') return [operands, isTail ? op.return_call : op.call, asm.u32(target)];
    if (path === 'table') {
      const opcode = isTail ? op.return_call_indirect : op.call_indirect;
      return [operands, i32(target), opcode, type, asm.u32(0)];
    }
    const reference =
      path === 'ref' ? [op.ref_func, asm.u32(target)] : [op.global_get, asm.u32(references.globalOf(target))];
    return [operands, reference, isTail ? op.return_call_ref : op.call_ref, type];
  };

  const leave = (way: Exit): Bytes => {
    if (way.by === 'throw') return [way.tag === 0 ? i32(77) : [], op.throw, asm.u32(way.tag)];
    if (way.by === 'tail') return call(way.path, way.target, true);
    if (way.by === 'trap') {
      if (way.trap === 'division') return [i32(1), i32(0), op.i32_div_s, op.drop];
      // The slot behind the last function is empty.
      const slot = i32(program.imports.length + program.functions.length);
      if (way.trap === 'nullCall') {
        return [fuel(), slot, op.call_indirect, asm.u32(own.results), asm.u32(0), drops(results.length)];
      }
      if (way.trap === 'nullTailCall') return [fuel(), slot, op.return_call_indirect, asm.u32(own.results), asm.u32(0)];
      return [op.unreachable];
    }
    const rest: Bytes = way.hasRest ? [i32(5), op.i64_const, asm.s64(-6n)] : [];
    const unused: Bytes = [drops(results.length), way.hasRest ? [op.drop, op.drop] : []];
    const values = [rest, constants(way.values)];
    switch (way.by) {
      case 'return':
        return [values, op.return];
      case 'br':
        return [values, op.br, toFunction()];
      case 'br_if':
        return [values, i32(1), hinted, op.br_if, toFunction(), unused];
      case 'br_table':
        return [values, i32(2), op.br_table, asm.vector([toFunction(), toFunction()]), toFunction()];
      case 'br_on_null':
        return [values, op.ref_null, heap.func, op.br_on_null, toFunction(), op.drop, unused];
      case 'br_on_non_null':
        return [values, op.br_on_non_null, toFunction(), drops(results.length - 1), way.hasRest ? drops(2) : []];
      case 'br_on_cast': // from (ref null any) to (ref i31)
        return [values, gc.prefix, asm.u32(gc.br_on_cast), 1, toFunction(), heap.any, heap.i31, unused];
      case 'br_on_cast_fail': // from (ref null any) to (ref null none)
        return [values, gc.prefix, asm.u32(gc.br_on_cast_fail), 3, toFunction(), heap.any, heap.none, unused];
    }
  };

  const inScope = (body: (scope: Scope) => Bytes): Bytes => {
    const scope: Scope = { label: labels, handler: undefined };
    scopes.push(scope);
    const code = body(scope);
    scopes.pop();
    return code;
  };

  const legacyTry = ({ body, handlers }: Extract<Statement, { do: 'try' }>): Bytes =>
    inScope((scope) =>
      inLabel([op.try, empty], () => [
        run(body),
        handlers.map((handler) => {
          scope.handler = { local: -1 };
          const clause = handler.tag === 'all' ? [op.catch_all] : [op.catch, asm.u32(handler.tag)];
          return [clause, handler.tag === 0 ? [op.drop] : [], run(handler.body)];
        }),
      ]),
    );

  /** One block for each handler, around the `try_table`, whose clauses branch to their ends. */
  const newTry = ({ body, handlers }: Extract<Statement, { do: 'try' }>): Bytes =>
    inScope((scope) =>
      block(() => {
        // Labels seen from the try_table, counted from outside of it: the last handler's block is the innermost.
        const clauses = handlers.map(({ tag, keeps }, place) => {
          const kind = (tag === 'all' ? 2 : 0) + (keeps ? 1 : 0);
          return [kind, tag === 'all' ? [] : asm.u32(tag), asm.u32(handlers.length - 1 - place)];
        });
        const wrap = (place: number): Bytes => {
          const handler = handlers[place];
          if (handler === undefined) {
            const table = inLabel([op.try_table, empty, asm.vector(clauses)], () => run(body));
            return [table, op.br, asm.u32(handlers.length)];
          }
          const inner = inLabel([op.block, clauseType(handler.tag, handler.keeps)], () => wrap(place + 1));
          const local = handler.keeps ? 1 + exceptionLocals++ : -1;
          const taken = [handler.keeps ? [op.local_set, asm.u32(local)] : [], handler.tag === 0 ? [op.drop] : []];
          scope.handler = { local };
          const code = run(handler.body);
          scope.handler = undefined;
          // The block around the first handler's is the statement's own, to whose end all others branch.
          return [inner, taken, code, place === 0 ? [] : [op.br, asm.u32(place)]];
        };
        return wrap(0);
      }),
    );

  const step = (statement: Statement): Bytes => {
    switch (statement.do) {
      case 'call':
        return [call(statement.path, statement.target, false), drops(resultsOf(program, statement.target).length)];
      case 'block':
        return inScope(() =>
          block(() => (statement.isLoop ? inLabel([op.loop, empty], () => run(statement.body)) : run(statement.body))),
        );
      case 'break': {
        const label = labelOf(statement.scopesOut);
        if (statement.by === 'br') return [op.br, label];
        if (statement.by === 'br_if') return [i32(1), hinted, op.br_if, label];
        return [i32(0), op.br_table, asm.vector([label, label]), label];
      }
      case 'when':
        return [
          [fuel(), i32(statement.bit), op.i32_and],
          inLabel([hinted, op.if, empty], () => [run(statement.yes), op.else, run(statement.no)]),
        ];
      case 'grow': {
        const { is64 } = program.memories[statement.memory] as { is64: boolean };
        const pages = is64 ? [op.i64_const, asm.s64(BigInt(statement.pages))] : i32(statement.pages);
        return [pages, op.memory_grow, asm.u32(statement.memory), op.drop];
      }
      case 'stay': {
        const values = constants(statement.values);
        const unused = drops(results.length);
        if (statement.by === 'br_if') return [values, i32(0), hinted, op.br_if, toFunction(), unused];
        if (statement.by === 'br_on_null') {
          return [values, op.ref_func, asm.u32(references.ofTypeZero), op.br_on_null, toFunction(), op.drop, unused];
        }
        // An i31 is no structure: from (ref null any) to (ref none).
        return [values, gc.prefix, asm.u32(gc.br_on_cast), 1, toFunction(), heap.any, heap.none, unused];
      }
      case 'try':
        return isLegacy ? legacyTry(statement) : newTry(statement);
      case 'delegate':
        return inScope(() => {
          const [opening, code] = inLabel([op.try, empty], () => run(statement.body), []) as [Bytes, Bytes];
          // The label counts from outside of the try; one beyond the last scope is the function's.
          const isFunction = statement.scopesOut >= scopes.length;
          const label = isFunction ? labels : labels - 1 - (scopeAt(statement.scopesOut)?.label ?? 0);
          return [opening, code, op.delegate, asm.u32(label)];
        });
      case 'catchToFunction':
        return inScope(() =>
          inLabel([op.try_table, empty, asm.vector([[0, asm.u32(0), asm.u32(labels)]])], () => run(statement.body)),
        );
      case 'rethrow': {
        const { local } = scopeAt(statement.scopesOut)?.handler ?? { local: -1 };
        if (isLegacy) return [op.rethrow, labelOf(statement.scopesOut)];
        return [op.local_get, asm.u32(local), op.throw_ref];
      }
      case 'exit':
        return leave(statement.exit);
    }
  };
  const run = (statements: readonly Statement[]): Bytes => statements.map(step);

  const leaf = [fuel(), op.i32_eqz, inLabel([hinted, op.if, empty], () => leave(own.leaf))];
  const code = [leaf, run(own.body), constants(own.values), op.end];
  const locals = exceptionLocals === 0 ? [] : [[asm.u32(exceptionLocals), heap.exn]];
  return [asm.vector(locals), code];
}

/** What a handler's block leaves on the stack: the payload, the exception, or both (type 9). */
function clauseType(tag: number | 'all', keeps: boolean): number {
  if (!keeps) return tag === 0 ? 0x7f : empty;
  return tag === 0 ? payloadAndExceptionType : heap.exn;
}

/** Index of the type `[] -> [i32 exnref]`, as a block type: below 64, so that one byte holds it. */
export const payloadAndExceptionType = resultLists.length + 3;
