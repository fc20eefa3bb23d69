import './translate-to-fuzz.test.ts';
