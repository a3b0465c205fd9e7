import { dirname, relative } from 'node:path';
import ts from 'typescript';

/** Functions that change their first argument. */
const CHANGING =
  /^(?:Object\.(?:assign|definePropert(?:y|ies)|setPrototypeOf)|Reflect\.(?:set|defineProperty|deleteProperty|setPrototypeOf))$/;

/**
 * Finds code that replaces a method or an internal field of an object that Node.js or a library has made: such code breaks when
 * the next version uses the method or the field in another way.
 *
 * @param root The folder that the places in the result are relative to.
 * @returns The place and the text of each.
 */
export function findForeignAssignments(files: readonly string[], options: ts.CompilerOptions, root: string): string[] {
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const found: string[] = [];

  const isForeign = (symbol: ts.Symbol | undefined): boolean =>
    symbol?.declarations?.some((node) => node.getSourceFile().fileName.includes('/node_modules/')) ?? false;

  const isMethod = (symbol: ts.Symbol | undefined): boolean => {
    if (symbol === undefined || !isForeign(symbol)) return false;
    return checker.getNonNullableType(checker.getTypeOfSymbol(symbol)).getCallSignatures().length > 0;
  };

  const isAssigned = (target: ts.Node): boolean => {
    if (!ts.isPropertyAccessExpression(target) && !ts.isElementAccessExpression(target)) return false;
    const name = ts.isPropertyAccessExpression(target) ? target.name : target.argumentExpression;
    const isInternal = (ts.isIdentifier(name) || ts.isStringLiteral(name)) && name.text.startsWith('_');
    return (
      (isInternal && target.expression.kind !== ts.SyntaxKind.ThisKeyword) ||
      isMethod(checker.getSymbolAtLocation(name))
    );
  };

  const isChanged = (target: ts.Expression | undefined, change: ts.Expression | undefined): boolean => {
    // Code may assign to an object that it has just made.
    if (target === undefined || ts.isNewExpression(target) || ts.isObjectLiteralExpression(target)) return false;
    const type = checker.getTypeAtLocation(target);
    if (!isForeign(type.getSymbol())) return false;
    if (change === undefined || !ts.isStringLiteral(change)) return true;
    const property = type.getProperty(change.text);
    return property === undefined || isMethod(property);
  };

  const isForeignAssignment = (node: ts.Node): boolean => {
    if (ts.isBinaryExpression(node)) return isAssignment(node.operatorToken.kind) && isAssigned(node.left);
    if (ts.isDeleteExpression(node)) return isAssigned(node.expression);
    return (
      ts.isCallExpression(node) &&
      CHANGING.test(node.expression.getText()) &&
      isChanged(node.arguments[0], node.arguments[1])
    );
  };

  const visit = (node: ts.Node): void => {
    if (isForeignAssignment(node)) {
      const source = node.getSourceFile();
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${relative(root, source.fileName)}:${line + 1}: ${node.getText().split('\n')[0]}`);
    }
    ts.forEachChild(node, visit);
  };
  for (const file of files) {
    const source = program.getSourceFile(file);
    if (source === undefined) throw new Error(`TypeScript does not find ${file}`);
    visit(source);
  }
  return found;
}

function isAssignment(operator: ts.SyntaxKind): boolean {
  return operator >= ts.SyntaxKind.FirstAssignment && operator <= ts.SyntaxKind.LastAssignment;
}

/** @param file A tsconfig.json. */
export function readCompilerOptions(file: string): ts.CompilerOptions {
  const { config, error } = ts.readConfigFile(file, ts.sys.readFile);
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  return ts.parseJsonConfigFileContent(config, ts.sys, dirname(file)).options;
}
