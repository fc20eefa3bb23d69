;; The fast path of the scan: see docs/explanation/rewriting.md. `scripts/write-scan-kernel.mjs` assembles it.
;;
;; Four streams read four partitions of the code in turn. Each reads through a window, which the host fills. `run` returns
;; when a stream needs the host: see the reasons below. The host never trusts a result of malformed code: at a fault it
;; scans the module again with the slow path, which finds the error.
;;
;; State of a stream, 64 bytes:
;;    0 pos          address of the next instruction; in a window
;;    4 depth        nesting depth
;;    8 end          address of the body's end, which may lie behind the window
;;   12 limit        from this address on, the window must be filled again
;;   16 sites        address behind the last patch site
;;   20 lastSite     address of the last patch site's instruction
;;   24 traitsEnd    address behind the traits of the last finished body
;;   28 bodiesLeft   bodies to finish, with the current one
;;   32 traits       traits of the current body
;;   36 function     index of the current function
;;   40 ownWidth     values of the current function's type
;;   44 values       values counted for the validation cost
;;   48 reason       0 running, 1 done, 2 slow instruction, 3 fault, 4 end of the window, 5 locals that the host must read
(module
  (memory (export "memory") 1)
  ;; Set by the host before `run`.
  (global $functionTypes (export "functionTypes") (mut i32) (i32.const 0))
  (global $functionCount (export "functionCount") (mut i32) (i32.const 0))
  (global $typeWidths (export "typeWidths") (mut i32) (i32.const 0))
  (global $typeCount (export "typeCount") (mut i32) (i32.const 0))
  (global $freeWidth (export "freeWidth") (mut i32) (i32.const 0))
  (global $maxLocals (export "maxLocals") (mut i32) (i32.const 0))
  ;; The lowest byte of the types of locals that the kernel reads: that of a vector, or of a number.
  (global $lowestLocal (export "lowestLocal") (mut i32) (i32.const 0))
  (global $widestTag (export "widestTag") (mut i32) (i32.const 0))
  ;; Set by the kernel: whether there are instructions of legacy exception handling.
  (global $isLegacy (export "isLegacy") (mut i32) (i32.const 0))
  ;; The marks of `patch-sites.ts`: gaps below both take one byte.
  (global $probeMark (export "probeMark") (mut i32) (i32.const 0))
  (global $wideMark (export "wideMark") (mut i32) (i32.const 0))
  ;; Streams that are not done; set by the host before the first `run`.
  (global $active (export "active") (mut i32) (i32.const 0))
  ;; Whether a stream needs the host.
  (global $isPending (mut i32) (i32.const 0))

  ;; Reads one instruction. An entry of the table at 4096, by opcode and next byte:
  ;;   bits 0-3  the length; one more if bit 7 is set and the instruction's third byte belongs to a longer LEB128
  ;;   bits 4-5  the change of the depth, signed
  ;;   bits 8-14 the least depth: 1 for `end`, 1 plus the label for a branch
  ;;   bit 15    not for the fast path
  (func $step (param $stream i32) (param $pos i32) (param $depth i32) (result i32 i32)
    (local $word i32) (local $entry i32) (local $long i32)
    (local.set $word (i32.load align=1 (local.get $pos)))
    (local.set $entry
      (i32.load16_s offset=4096 (i32.shl (i32.and (local.get $word) (i32.const 0xffff)) (i32.const 1))))
    (local.set $long
      (i32.and (i32.and (i32.shr_u (local.get $word) (i32.const 16)) (i32.const 0x80)) (local.get $entry)))
    (if (result i32 i32)
      (i32.lt_s
        (i32.or
          (i32.or
            (i32.sub (local.get $depth) (i32.shr_s (local.get $entry) (i32.const 8)))
            (local.get $entry))
          ;; The fourth byte belongs to the LEB128, too.
          (i32.and (i32.shl (local.get $long) (i32.const 24)) (local.get $word)))
        (i32.const 0))
      (then (call $medium (local.get $stream) (local.get $pos) (local.get $depth)))
      (else
        (i32.add
          (i32.add (local.get $pos) (i32.and (local.get $entry) (i32.const 15)))
          (i32.shr_u (local.get $long) (i32.const 7)))
        (i32.add
          (local.get $depth)
          (i32.shr_s (i32.shl (local.get $entry) (i32.const 26)) (i32.const 30))))))

  (func (export "run")
    (local $pos0 i32) (local $depth0 i32) (local $pos1 i32) (local $depth1 i32)
    (local $pos2 i32) (local $depth2 i32) (local $pos3 i32) (local $depth3 i32)
    (local $rounds i32)
    (global.set $isPending (i32.const 0))
    (local.set $pos0 (call $resume (i32.const 0)))
    (local.set $depth0 (i32.load offset=4 (i32.const 0)))
    (local.set $pos1 (call $resume (i32.const 64)))
    (local.set $depth1 (i32.load offset=68 (i32.const 0)))
    (local.set $pos2 (call $resume (i32.const 128)))
    (local.set $depth2 (i32.load offset=132 (i32.const 0)))
    (local.set $pos3 (call $resume (i32.const 192)))
    (local.set $depth3 (i32.load offset=196 (i32.const 0)))
    (loop $outer
      (local.set $rounds (i32.const 16))
      (loop $inner
        (call $step (i32.const 0) (local.get $pos0) (local.get $depth0))
        (local.set $depth0) (local.set $pos0)
        (call $step (i32.const 64) (local.get $pos1) (local.get $depth1))
        (local.set $depth1) (local.set $pos1)
        (call $step (i32.const 128) (local.get $pos2) (local.get $depth2))
        (local.set $depth2) (local.set $pos2)
        (call $step (i32.const 192) (local.get $pos3) (local.get $depth3))
        (local.set $depth3) (local.set $pos3)
        (br_if $inner (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
      (local.set $pos0 (call $checkLimit (i32.const 0) (local.get $pos0) (local.get $depth0)))
      (local.set $pos1 (call $checkLimit (i32.const 64) (local.get $pos1) (local.get $depth1)))
      (local.set $pos2 (call $checkLimit (i32.const 128) (local.get $pos2) (local.get $depth2)))
      (local.set $pos3 (call $checkLimit (i32.const 192) (local.get $pos3) (local.get $depth3)))
      (br_if $outer (i32.eqz (global.get $isPending))))
    (call $save (i32.const 0) (local.get $pos0) (local.get $depth0))
    (call $save (i32.const 64) (local.get $pos1) (local.get $depth1))
    (call $save (i32.const 128) (local.get $pos2) (local.get $depth2))
    (call $save (i32.const 192) (local.get $pos3) (local.get $depth3)))

  ;; Where a stream waits that has nothing to read: a run of `nop` behind all windows.
  (func $resume (param $stream i32) (result i32)
    (select (i32.load (local.get $stream)) (global.get $waiting) (i32.eqz (i32.load offset=48 (local.get $stream)))))
  (global $waiting (export "waiting") (mut i32) (i32.const 0))

  (func $save (param $stream i32) (param $pos i32) (param $depth i32)
    (if (i32.eqz (i32.load offset=48 (local.get $stream)))
      (then (call $put (local.get $stream) (local.get $pos) (local.get $depth)))))

  (func $put (param $stream i32) (param $pos i32) (param $depth i32)
    (i32.store (local.get $stream) (local.get $pos))
    (i32.store offset=4 (local.get $stream) (local.get $depth)))

  (func $checkLimit (param $stream i32) (param $pos i32) (param $depth i32) (result i32)
    (if (i32.lt_u (local.get $pos) (i32.load offset=12 (local.get $stream))) (then (return (local.get $pos))))
    (if (i32.eqz (i32.load offset=48 (local.get $stream)))
      (then (drop (call $stop (local.get $stream) (local.get $pos) (local.get $depth) (i32.const 4)) (drop))))
    (global.get $waiting))

  ;; Leaves a stream to the host.
  (func $stop (param $stream i32) (param $pos i32) (param $depth i32) (param $reason i32) (result i32 i32)
    (call $put (local.get $stream) (local.get $pos) (local.get $depth))
    (i32.store offset=48 (local.get $stream) (local.get $reason))
    (global.set $isPending (i32.const 1))
    (global.get $waiting)
    (local.get $depth))

  ;; The address behind a LEB128 of at most $max bytes; 0 for a longer one.
  (func $skip (param $pos i32) (param $max i32) (result i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $pos) (local.get $max)))
    (loop $next
      (if (i32.lt_u (i32.load8_u (local.get $pos)) (i32.const 0x80))
        (then (return (i32.add (local.get $pos) (i32.const 1)))))
      (br_if $next (i32.lt_u (local.tee $pos (i32.add (local.get $pos) (i32.const 1))) (local.get $end))))
    (i32.const 0))

  ;; The value of a LEB128 of at most three bytes, and the address behind it; the address 0 for a longer one.
  (func $index (param $pos i32) (result i32 i32)
    (local $word i32)
    (local.set $word (i32.load align=1 (local.get $pos)))
    (if (i32.eqz (i32.and (local.get $word) (i32.const 0x80)))
      (then (return (i32.and (local.get $word) (i32.const 0x7f)) (i32.add (local.get $pos) (i32.const 1)))))
    (if (i32.eqz (i32.and (local.get $word) (i32.const 0x8000)))
      (then
        (return
          (i32.or
            (i32.and (local.get $word) (i32.const 0x7f))
            (i32.and (i32.shr_u (local.get $word) (i32.const 1)) (i32.const 0x3f80)))
          (i32.add (local.get $pos) (i32.const 2)))))
    (i32.or
      (i32.or
        (i32.and (local.get $word) (i32.const 0x7f))
        (i32.and (i32.shr_u (local.get $word) (i32.const 1)) (i32.const 0x3f80)))
      (i32.and (i32.shr_u (local.get $word) (i32.const 2)) (i32.const 0x1fc000)))
    (select
      (i32.const 0)
      (i32.add (local.get $pos) (i32.const 3))
      (i32.and (local.get $word) (i32.const 0x800000))))

  ;; Counts values for the validation cost. Far beyond its limit the counter stays as it is, so that it doesn't overflow.
  (func $count (param $stream i32) (param $values i32)
    (if
      (i32.and
        (i32.gt_u (local.get $values) (global.get $freeWidth))
        (i32.lt_u (i32.load offset=44 (local.get $stream)) (i32.const 0x40000000)))
      (then
        (i32.store offset=44 (local.get $stream)
          (i32.add (i32.load offset=44 (local.get $stream)) (local.get $values))))))

  (func $widthOf (param $type i32) (result i32)
    (if (result i32) (i32.lt_u (local.get $type) (global.get $typeCount))
      (then (i32.load (i32.add (global.get $typeWidths) (i32.shl (local.get $type) (i32.const 2)))))
      (else (i32.const 0))))

  (func $widthOfFunction (param $index i32) (result i32)
    (call $widthOf
      (i32.load (i32.add (global.get $functionTypes) (i32.shl (local.get $index) (i32.const 2))))))

  (func $mark (param $stream i32) (param $trait i32)
    (i32.store offset=32 (local.get $stream) (i32.or (i32.load offset=32 (local.get $stream)) (local.get $trait))))

  ;; Records a patch site: the gap to the one before, in one byte or in five.
  (func $addSite (param $stream i32) (param $pos i32)
    (local $gap i32) (local $sites i32)
    (local.set $gap (i32.sub (local.get $pos) (i32.load offset=20 (local.get $stream))))
    (i32.store offset=20 (local.get $stream) (local.get $pos))
    (local.set $sites (i32.load offset=16 (local.get $stream)))
    (if (i32.lt_u (local.get $gap) (global.get $probeMark))
      (then
        (i32.store8 (local.get $sites) (local.get $gap))
        (i32.store offset=16 (local.get $stream) (i32.add (local.get $sites) (i32.const 1))))
      (else
        (i32.store8 (local.get $sites) (global.get $wideMark))
        (i32.store offset=1 align=1 (local.get $sites) (local.get $gap))
        (i32.store offset=16 (local.get $stream) (i32.add (local.get $sites) (i32.const 5))))))

  ;; Notes a `return`, or a branch to the function's own label.
  (func $leaveEarly (param $stream i32)
    (call $mark (local.get $stream) (i32.const 2))
    (call $count (local.get $stream) (i32.load offset=40 (local.get $stream))))

  ;; Reads an instruction that the table leaves to this function, and leaves rare ones to the host.
  (func $medium (param $stream i32) (param $pos i32) (param $depth i32) (result i32 i32)
    (local $at i32) (local $kind i32) (local $value i32)
    (local.set $at (i32.add (local.get $pos) (i32.const 1)))
    (local.set $value (i32.load8_u (local.get $pos)))
    (local.set $kind (i32.load8_u offset=1024 (local.get $value)))
    (if (i32.eq (local.get $kind) (i32.const 12)) ;; a prefix
      (then
        (local.set $kind (i32.mul (i32.sub (local.get $value) (i32.const 0xfb)) (i32.const 0x120)))
        (call $index (local.get $at))
        (local.set $at)
        (local.set $value)
        (if (i32.ge_u (local.get $value) (i32.const 0x120))
          (then (return (call $stop (local.get $stream) (local.get $pos) (local.get $depth) (i32.const 2)))))
        (local.set $kind
          (i32.load8_u offset=1280 (i32.add (local.get $kind) (local.get $value))))))
    (block $slow
      (if (i32.eqz (local.get $at)) (then (br $slow)))
      (block $catch
      (block $rethrow
      (block $throw
      (block $delegate
      (block $structNew
      (block $heapType
      (block $callIndirect
      (block $call
      (block $return
      (block $branchTable
      (block $branch
      (block $end
      (block $block
      (block $try
      (block $valueTypes
      (block $memArgAndLane
      (block $memArg
      (block $leb64
      (block $twoLeb
      (block $leb
      (block $16
      (block $8
      (block $4
      (block $1
      (block $none
        (br_table
          $slow $none $1 $leb $twoLeb $leb64 $4 $8 $16 $memArg $memArgAndLane $valueTypes
          $slow $block $try $slow $end $delegate $branch $branchTable $slow $return $call $slow $slow
          $callIndirect $callIndirect $slow $slow $slow $throw $slow $rethrow $heapType $catch $structNew $slow
          (local.get $kind)))
        (return (local.get $at) (local.get $depth)))
        (return (i32.add (local.get $at) (i32.const 1)) (local.get $depth)))
        (return (i32.add (local.get $at) (i32.const 4)) (local.get $depth)))
        (return (i32.add (local.get $at) (i32.const 8)) (local.get $depth)))
        (return (i32.add (local.get $at) (i32.const 16)) (local.get $depth)))
        ;; leb
        (br_if $slow (i32.eqz (local.tee $at (call $skip (local.get $at) (i32.const 5)))))
        (return (local.get $at) (local.get $depth)))
        ;; twoLeb
        (br_if $slow (i32.eqz (local.tee $at (call $skip (local.get $at) (i32.const 5)))))
        (br_if $slow (i32.eqz (local.tee $at (call $skip (local.get $at) (i32.const 5)))))
        (return (local.get $at) (local.get $depth)))
        ;; leb64
        (br_if $slow (i32.eqz (local.tee $at (call $skip (local.get $at) (i32.const 10)))))
        (return (local.get $at) (local.get $depth)))
        ;; memArg
        (br_if $slow (i32.ge_u (i32.load8_u (local.get $at)) (i32.const 0x40)))
        (br_if $slow
          (i32.eqz (local.tee $at (call $skip (i32.add (local.get $at) (i32.const 1)) (i32.const 10)))))
        (return (local.get $at) (local.get $depth)))
        ;; memArgAndLane
        (br_if $slow (i32.ge_u (i32.load8_u (local.get $at)) (i32.const 0x40)))
        (br_if $slow
          (i32.eqz (local.tee $at (call $skip (i32.add (local.get $at) (i32.const 1)) (i32.const 10)))))
        (return (i32.add (local.get $at) (i32.const 1)) (local.get $depth)))
        ;; valueTypes: one number type
        (br_if $slow (i32.ne (i32.load8_u (local.get $at)) (i32.const 1)))
        (br_if $slow
          (i32.gt_u (i32.sub (i32.load8_u offset=1 (local.get $at)) (i32.const 0x7b)) (i32.const 4)))
        (return (i32.add (local.get $at) (i32.const 2)) (local.get $depth)))
        ;; try
        (global.set $isLegacy (i32.const 1))
        (local.set $value (i32.load8_u (local.get $at)))
        (if
          (i32.or
            (i32.eq (local.get $value) (i32.const 0x40))
            (i32.le_u (i32.sub (local.get $value) (i32.const 0x7b)) (i32.const 4)))
          (then (return (i32.add (local.get $at) (i32.const 1)) (i32.add (local.get $depth) (i32.const 1))))))
        ;; block, with a type index
        (local.set $value (i32.load8_u (local.get $at)))
        (br_if $slow
          (i32.and
            (i32.ge_u (local.get $value) (i32.const 0x40))
            (i32.lt_u (local.get $value) (i32.const 0x80))))
        (call $index (local.get $at))
        (local.set $at)
        (local.set $value)
        (br_if $slow (i32.eqz (local.get $at)))
        (br_if $slow (i32.gt_u (call $widthOf (local.get $value)) (global.get $freeWidth)))
        (return (local.get $at) (i32.add (local.get $depth) (i32.const 1))))
        ;; end of the function
        (if (i32.ne (local.get $at) (i32.load offset=8 (local.get $stream)))
          (then (return (call $stop (local.get $stream) (local.get $pos) (local.get $depth) (i32.const 3)))))
        (return (call $closeBody (local.get $stream) (local.get $at))))
        ;; branch
        (call $index (local.get $at))
        (local.set $at)
        (local.set $value)
        (br_if $slow (i32.eqz (local.get $at)))
        (br_if $slow (i32.gt_s (local.get $value) (local.get $depth)))
        (if (i32.eq (local.get $value) (local.get $depth)) (then (call $leaveEarly (local.get $stream))))
        (return (local.get $at) (local.get $depth)))
        ;; branchTable, of less than 128 labels
        (br_if $slow (i32.ge_u (local.tee $value (i32.load8_u (local.get $at))) (i32.const 0x80)))
        ;; The labels are read before anything is counted: a label that is left to the host must not count twice.
        (local.set $value (i32.add (i32.add (local.get $at) (local.get $value)) (i32.const 2)))
        (local.set $kind (i32.add (local.get $at) (i32.const 1)))
        (loop $labels
          (br_if $slow (i32.ge_u (i32.load8_u (local.get $kind)) (i32.const 0x80)))
          (br_if $slow (i32.gt_s (i32.load8_u (local.get $kind)) (local.get $depth)))
          (br_if $labels
            (i32.lt_u (local.tee $kind (i32.add (local.get $kind) (i32.const 1))) (local.get $value))))
        (call $count (local.get $stream) (local.get $depth))
        (local.set $kind (i32.add (local.get $at) (i32.const 1)))
        (loop $labels
          (if (i32.eq (i32.load8_u (local.get $kind)) (local.get $depth))
            (then (call $leaveEarly (local.get $stream))))
          (br_if $labels
            (i32.lt_u (local.tee $kind (i32.add (local.get $kind) (i32.const 1))) (local.get $value))))
        (return (local.get $value) (local.get $depth)))
        ;; return
        (br_if $slow (i32.ge_u (local.get $depth) (global.get $wideMark)))
        (call $leaveEarly (local.get $stream))
        (call $addSite (local.get $stream) (local.get $pos))
        (local.set $value (i32.load offset=16 (local.get $stream)))
        (i32.store8 (local.get $value) (local.get $depth))
        (i32.store offset=16 (local.get $stream) (i32.add (local.get $value) (i32.const 1)))
        (return (local.get $at) (local.get $depth)))
        ;; call
        (call $index (local.get $at))
        (local.set $at)
        (local.set $value)
        (br_if $slow (i32.eqz (local.get $at)))
        (br_if $slow (i32.ge_u (local.get $value) (global.get $functionCount)))
        (call $mark (local.get $stream) (i32.const 1))
        (call $count (local.get $stream) (call $widthOfFunction (local.get $value)))
        (call $addSite (local.get $stream) (local.get $pos))
        (return (local.get $at) (local.get $depth)))
        ;; callIndirect, callRef
        (call $index (local.get $at))
        (local.set $at)
        (local.set $value)
        (br_if $slow (i32.eqz (local.get $at)))
        (if (i32.eq (local.get $kind) (i32.const 26))
          (then (br_if $slow (i32.eqz (local.tee $at (call $skip (local.get $at) (i32.const 5)))))))
        (call $mark (local.get $stream) (i32.const 1))
        (call $count (local.get $stream) (call $widthOf (local.get $value)))
        (return (local.get $at) (local.get $depth)))
        ;; heapType: a type index of one byte
        (br_if $slow (i32.ge_u (i32.load8_u (local.get $at)) (i32.const 0x40)))
        (return (i32.add (local.get $at) (i32.const 1)) (local.get $depth)))
        ;; structNew
        (call $index (local.get $at))
        (local.set $at)
        (local.set $value)
        (br_if $slow (i32.eqz (local.get $at)))
        (call $count (local.get $stream) (call $widthOf (local.get $value)))
        (return (local.get $at) (local.get $depth)))
        ;; delegate
        (global.set $isLegacy (i32.const 1))
        (br_if $slow (i32.ge_s (i32.load8_u (local.get $at)) (local.get $depth)))
        (br_if $slow (i32.ge_u (i32.load8_u (local.get $at)) (i32.const 0x80)))
        (return (i32.add (local.get $at) (i32.const 1)) (i32.sub (local.get $depth) (i32.const 1))))
        ;; throw
        (br_if $slow (i32.eqz (local.tee $at (call $skip (local.get $at) (i32.const 5)))))
        (call $mark (local.get $stream) (i32.const 1))
        (call $count (local.get $stream) (global.get $widestTag))
        (return (local.get $at) (local.get $depth)))
        ;; rethrow
        (global.set $isLegacy (i32.const 1))
        (br_if $slow (i32.eqz (local.tee $at (call $skip (local.get $at) (i32.const 5)))))
        (call $mark (local.get $stream) (i32.const 1))
        (return (local.get $at) (local.get $depth)))
        ;; catch
        (br_if $slow (i32.eqz (local.tee $at (call $skip (local.get $at) (i32.const 5)))))
        (call $count (local.get $stream) (global.get $widestTag))
        (return (local.get $at) (local.get $depth)))
    (call $stop (local.get $stream) (local.get $pos) (local.get $depth) (i32.const 2)))

  ;; Ends a body at $pos, and opens the next one.
  (func $closeBody (param $stream i32) (param $pos i32) (result i32 i32)
    (local $value i32)
    (local.set $value (i32.load offset=24 (local.get $stream)))
    (i32.store8 (local.get $value) (i32.load offset=32 (local.get $stream)))
    (i32.store offset=24 (local.get $stream) (i32.add (local.get $value) (i32.const 1)))
    (i32.store offset=32 (local.get $stream) (i32.const 0))
    (i32.store offset=36 (local.get $stream)
      (i32.add (i32.load offset=36 (local.get $stream)) (i32.const 1)))
    (local.set $value (i32.sub (i32.load offset=28 (local.get $stream)) (i32.const 1)))
    (i32.store offset=28 (local.get $stream) (local.get $value))
    (if (i32.eqz (local.get $value))
      (then
        (call $put (local.get $stream) (local.get $pos) (i32.const 0))
        (i32.store offset=48 (local.get $stream) (i32.const 1))
        (global.set $active (i32.sub (global.get $active) (i32.const 1)))
        (if (i32.eqz (global.get $active)) (then (global.set $isPending (i32.const 1))))
        (return (global.get $waiting) (i32.const 0))))
    (call $openBody (local.get $stream) (local.get $pos)))

  ;; Reads the size and the locals of the body at $pos.
  (func $openBody (param $stream i32) (param $pos i32) (result i32 i32)
    (local $value i32) (local $start i32) (local $runs i32) (local $locals i32)
    (call $index (local.get $pos))
    (local.set $start)
    (local.set $value)
    (block $slow
      (br_if $slow (i32.eqz (local.get $start)))
      (i32.store offset=8 (local.get $stream) (i32.add (local.get $start) (local.get $value)))
      (i32.store offset=40 (local.get $stream) (call $widthOfFunction (i32.load offset=36 (local.get $stream))))
      (br_if $slow (i32.gt_u (local.tee $runs (i32.load8_u (local.get $start))) (i32.const 16)))
      (local.set $pos (i32.add (local.get $start) (i32.const 1)))
      (block $read
        (loop $next
          (br_if $read (i32.eqz (local.get $runs)))
          (call $index (local.get $pos))
          (local.set $pos)
          (local.set $value)
          (br_if $slow (i32.eqz (local.get $pos)))
          (br_if $slow (i32.lt_u (i32.load8_u (local.get $pos)) (global.get $lowestLocal)))
          (br_if $slow (i32.gt_u (i32.load8_u (local.get $pos)) (i32.const 0x7f)))
          (local.set $pos (i32.add (local.get $pos) (i32.const 1)))
          (local.set $locals (i32.add (local.get $locals) (local.get $value)))
          (local.set $runs (i32.sub (local.get $runs) (i32.const 1)))
          (br $next)))
      (local.set $locals (i32.add (local.get $locals) (i32.load offset=40 (local.get $stream))))
      ;; Engines reject more locals without creating them.
      (if (i32.le_u (local.get $locals) (global.get $maxLocals))
        (then (call $count (local.get $stream) (local.get $locals))))
      (return (local.get $pos) (i32.const 0)))
    (call $stop (local.get $stream) (local.get $start) (i32.const 0) (i32.const 5))))
