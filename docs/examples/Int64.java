// mvn dependency:copy -Dartifact=com.fasterxml.jackson.core:jackson-annotations:2.21 -DoutputDirectory=lib
// mvn dependency:copy -Dartifact=com.fasterxml.jackson.core:jackson-core:2.21.5 -DoutputDirectory=lib
// mvn dependency:copy -Dartifact=com.fasterxml.jackson.core:jackson-databind:2.21.5 -DoutputDirectory=lib
// java -cp 'lib/*' Int64.java
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.*;

public class Int64 {
  public static void main(String[] words) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("BASE_URL") + "/pets"))
        .header("Authorization", "Bearer " + System.getenv("API_KEY"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString("{\"name\":\"Rex\",\"categoryId\":9223372036854775807}"))
        .build();
    var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    var pet = new ObjectMapper().readTree(response.body());
    System.out.println(pet.get("categoryId").longValue());
  }
}
