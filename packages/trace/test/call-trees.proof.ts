import './call-trees.test.ts';
