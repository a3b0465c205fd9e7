import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.example.animals.ApiClient;
import org.example.animals.ApiError;
import org.example.animals.ApiException;
import org.example.animals.ApiResponse;
import org.example.animals.JSON;
import org.example.animals.NewPet;
import org.example.animals.Pet;
import org.example.animals.PetStatus;
import org.example.animals.PetsApi;

public class Program {
  private static final Pattern CURSOR_OF_NEXT = Pattern.compile("<[^>]*[?&]cursor=([^&>]*)[^>]*>; rel=\"next\"");

  interface Call {
    Object run() throws ApiException;
  }

  static PetsApi petsWith(String key) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("BASE_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
    return new PetsApi(client);
  }

  static Pet createRex(PetsApi pets, String name) throws ApiException {
    NewPet rex = new NewPet().name(name).categoryId(Long.MAX_VALUE).status(PetStatus.AVAILABLE);
    return pets.createPet(rex, "first");
  }

  static String errorOf(Call call) throws Exception {
    try {
      call.run();
    } catch (ApiException failure) {
      ApiError error = JSON.getDefault().getMapper().readValue(failure.getResponseBody(), ApiError.class);
      return error.getStatus() + " " + error.getCode();
    }
    throw new IllegalStateException("the call succeeded");
  }

  public static void main(String[] words) throws Exception {
    PetsApi pets = petsWith(System.getenv("API_KEY"));
    Map<String, Object> outcome = new LinkedHashMap<>();
    outcome.put("created", createRex(pets, "Rex"));
    outcome.put("repeated", createRex(pets, "Rex"));
    for (long count = 2; count <= 5; count++) {
      pets.createPet(new NewPet().name("Pet " + count).categoryId(-count), null);
    }

    List<List<Long>> pages = new ArrayList<>();
    for (String cursor = null; ; ) {
      ApiResponse<List<Pet>> response = pets.listPetsWithHttpInfo(2, null, cursor);
      pages.add(response.getData().stream().map(Pet::getId).toList());
      var next = CURSOR_OF_NEXT.matcher(String.join(", ", response.getHeaders().getOrDefault("link", List.of())));
      if (!next.find()) break;
      cursor = next.group(1);
    }
    outcome.put("pages", pages);

    outcome.put("errors", List.of(
        errorOf(() -> pets.listPets(null, null, "no cursor")),
        errorOf(() -> petsWith("not-a-key-of-anyone").listPets(null, null, null)),
        errorOf(() -> pets.getPet(999L)),
        errorOf(() -> createRex(pets, "Max"))));
    System.out.println(JSON.getDefault().getMapper().writeValueAsString(outcome));
  }
}
