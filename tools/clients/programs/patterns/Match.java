import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a pattern and texts, a line of code points each. Prints for each text in how many ways it matches. */
class Match {
  public static void main(String[] words) throws Exception {
    List<String> texts = Files.readAllLines(Path.of("texts")).stream().map(Match::text).toList();
    Pattern pattern = Pattern.compile(texts.get(0));
    for (String text : texts.subList(1, texts.size())) {
      Matcher matcher = pattern.matcher(text);
      System.out.print((matcher.find() ? 1 : 0) + (matcher.lookingAt() ? 1 : 0) + (matcher.matches() ? 1 : 0));
    }
  }

  static String text(String line) {
    int[] points = Arrays.stream(line.split(" ")).mapToInt(Integer::parseInt).toArray();
    return new String(points, 0, points.length);
  }
}
